/** What was said in a room, over HTTP: captions as they come, and the transcript. */
import { type Static, Type } from 'typebox';
import { RoomCaption } from '../../session/room-captions.ts';
import { count, id, language, list, oneOf, optional, text } from '../../shared/bounded.ts';

export const LARGEST_TRANSCRIPT_PAGE = 1_000;

const tenant = { tenant_id: optional(id('Tenant; for callers that may act for several')) };
const lang = language('Language of the captions');
const afterSeq = (absent: string) => optional(count(`room_seq after which captions follow; ${absent}`));

export const CaptionsQuery = Type.Object(
  {
    lang,
    after_seq: afterSeq('absent: the last 50 come first. The header Last-Event-ID overrides it'),
    ...tenant,
    token: optional(text('The token, instead of the Authorization header', 4096)),
  },
  { title: 'CaptionsQuery', description: 'Which captions' },
);
export type CaptionsQuery = Static<typeof CaptionsQuery>;

const { type: _type, room_code: _code, ...caption } = RoomCaption.properties;

/** As in the message room_caption. */
export const CaptionView = Type.Object(caption, {
  title: 'CaptionView',
  description: 'One utterance in one language. If it is not final, one more replaces it',
});
export type CaptionView = Static<typeof CaptionView>;

export const TRANSCRIPT_FORMATS = ['json', 'vtt', 'srt', 'txt'] as const;

export const TranscriptQuery = Type.Object(
  {
    lang,
    format: optional(oneOf(TRANSCRIPT_FORMATS, 'json if absent')),
    after_seq: afterSeq('absent: from the beginning of what is kept'),
    limit: optional(
      count('Utterances at most. Absent: 1,000 as json, and all of them in other formats', {
        minimum: 1,
        maximum: LARGEST_TRANSCRIPT_PAGE,
      }),
    ),
    origin_ms: optional(
      count(
        'The moment (epoch ms) from which the times of vtt and srt are counted, for example the start of a recording; absent: when the first utterance of the reply began',
      ),
    ),
    ...tenant,
  },
  { title: 'TranscriptQuery', description: 'Which part of the transcript, and as what' },
);
export type TranscriptQuery = Static<typeof TranscriptQuery>;

export const TranscriptReply = Type.Object(
  {
    captions: list(CaptionView, LARGEST_TRANSCRIPT_PAGE, 'In the order of room_seq'),
    next_seq: optional(count('after_seq of the next page; absent: this is the last one')),
    first_seq: count('Utterances before this one are not kept any more'),
  },
  { title: 'TranscriptReply', description: 'What was said, in one language' },
);
export type TranscriptReply = Static<typeof TranscriptReply>;
