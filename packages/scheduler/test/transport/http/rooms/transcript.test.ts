/** Transcripts: pages as json, and whole as subtitles or text. */
import { describe, expect, it } from 'vitest';
import { printTranscript } from '../../../../src/transport/http/rooms/transcript-view.ts';
import { captionOf, SERVER, startRooms } from './scripted-rooms.ts';

const HARD = captionOf(1, {
  speakerName: 'A & <B>',
  text: 'one\n\ntwo --> three',
  startedAt: 5_000,
  endedAt: 5_200,
});
const LATER = captionOf(2, { speakerName: undefined, startedAt: 3_665_004, endedAt: 3_667_000 });

describe('a printed transcript', () => {
  it('as vtt escapes what would end a cue or begin a tag', () => {
    expect(printTranscript('vtt', [HARD, LATER]).text).toBe(
      [
        'WEBVTT\n',
        '1',
        '00:00:00.000 --> 00:00:01.000',
        '<v A &amp; &lt;B&gt;>one two --&gt; three\n',
        '2',
        '01:01:00.004 --> 01:01:02.000',
        'hola 2\n',
      ].join('\n'),
    );
  });

  it('as srt numbers cues without gaps and counts from the given moment', () => {
    expect(printTranscript('srt', [LATER], 65_004).text).toBe('1\n01:00:00,000 --> 01:00:01,996\nhola 2\n');
  });

  it('as txt has one line per utterance', () => {
    expect(printTranscript('txt', [HARD]).text).toBe(
      '[1970-01-01T00:00:05.000Z] A & <B>: one two --> three\n',
    );
  });

  it('without utterances is still a file of its kind', () => {
    expect(printTranscript('vtt', []).text).toBe('WEBVTT\n');
    expect(printTranscript('srt', []).text).toBe('');
  });
});

describe('GET /v1/rooms/:id/transcript', () => {
  it('pages as json, and prints all pages in other formats', async () => {
    const { get, captions } = await startRooms();
    for (let seq = 1; seq <= 1_005; seq += 1) captions.push(captionOf(seq));
    const read = (search: string) => get(`/v1/rooms/abc-def/transcript?lang=es&${search}`, SERVER);
    const first = await read('limit=2');
    expect(first.body).toMatchObject({
      next_seq: 2,
      first_seq: 1,
      captions: [{ room_seq: 1 }, { room_seq: 2 }],
    });
    expect((await read('after_seq=1004')).body).toMatchObject({ captions: [{ room_seq: 1_005 }] });
    expect((await read('after_seq=1004')).body).not.toHaveProperty('next_seq');
    const whole = await read('format=srt');
    expect(whole.headers.get('content-type')).toBe('application/x-subrip; charset=utf-8');
    expect(whole.body.trim().split('\n\n')).toHaveLength(1_005);
    expect((await read('format=srt&limit=3')).body.trim().split('\n\n')).toHaveLength(3);
    expect((await read('format=pdf')).body).toMatchObject({ error: 'INVALID_MESSAGE', field: '/format' });
  });
});
