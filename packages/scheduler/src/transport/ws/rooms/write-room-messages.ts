/** Hot path: translates what a member of a room gets to protocol messages. Pure. */
import type { Participant, SchedulerToSession } from '@lingua/protocol';
import { pairOf, type RoomRecord } from '../../../domain/room.ts';
import type { RoomOutput } from '../../../session/rooms/room-output.ts';
import type { Caption } from '../../../session/rooms/room-service.ts';
import { unlisted } from '../../../session/rooms/room-steps.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { viewCaption, viewMember } from '../../wire/room-view.ts';

type Output<Kind extends RoomOutput['kind']> = Extract<RoomOutput, { kind: Kind }>;

export function toRoomMessage(output: RoomOutput): SchedulerToSession {
  switch (output.kind) {
    case 'entered':
      return { type: 'room_create_ack', room_code: output.room.code, room_id: output.room.roomId };
    case 'members':
      return members(output);
    case 'state': {
      const { room, receiver, seq } = output;
      return {
        type: 'room_state',
        ...shared(room, output.languages),
        room_id: room.roomId,
        ...omitUndefined({ title: room.title }),
        session_id: receiver,
        room_seq: seq,
        recorded: room.isRecorded,
        members: room.members.map(viewMember),
      };
    }
    case 'delta':
      return {
        type: 'room_delta',
        ...shared(output.room, output.languages),
        members: output.members.map(viewMember),
        left: [...output.left],
      };
    case 'caption':
      return caption(output);
    case 'voice':
      return {
        type: 'room_voice',
        room_code: output.code,
        room_seq: output.seq,
        speaker: output.speaker,
        lang: output.language,
        tts_audio: output.audio,
        tts_format: output.format,
      };
    case 'activity':
      return { type: 'room_activity', room_code: output.code, speaking: [...output.speaking] };
    case 'notice':
      return notice(output);
    case 'signal':
      return signal(output);
    case 'expired':
      return { type: 'room_expired', room_code: output.code, message: output.message };
  }
}

const shared = (room: RoomRecord, languages: Output<'state'>['languages']) => ({
  room_code: room.code,
  version: room.version,
  listeners: unlisted(room),
  languages: { ...languages },
  locked: room.isLocked,
});

/** The page reads whether it should hear a member from that member's own map, under its own id. */
const members = ({ room, receiver }: Output<'members'>): SchedulerToSession => ({
  type: 'room_members',
  room_code: room.code,
  members: room.members.map(
    (member): Participant => ({
      participant_id: member.memberId,
      session_id: member.memberId,
      joined_at: new Date(member.joinedAt).toISOString(),
      raw_voice_preferences: room.silentPairs.includes(pairOf(member.memberId, receiver))
        ? { [receiver]: false }
        : {},
      ...omitUndefined({ display_name: member.name, preferred_lang: member.hears?.language }),
    }),
  ),
});

const caption = ({ code, caption: given }: Output<'caption'>): SchedulerToSession => ({
  type: 'room_caption',
  room_code: code,
  ...viewCaption(given),
});

function notice({ code: room_code, notice: given }: Output<'notice'>): SchedulerToSession {
  const { code } = given;
  if (given.code === 'missed')
    return { type: 'room_notice', room_code, code, from: given.from, to: given.to };
  return 'language' in given
    ? { type: 'room_notice', room_code, code, lang: given.language }
    : { type: 'room_notice', room_code, code };
}

function signal({ code: room_code, signal: kind, from: to, body }: Output<'signal'>): SchedulerToSession {
  switch (kind) {
    case 'offer':
      return { type: 'webrtc_offer', room_code, to, sdp: body };
    case 'answer':
      return { type: 'webrtc_answer', room_code, to, sdp: body };
    case 'ice':
      return { type: 'webrtc_ice', room_code, to, ...(body !== undefined && { candidate: body }) };
  }
}

/** What a legacy client shows: a result of an utterance of its own numbers, without speech, which it would play as noise. */
export const toLegacyResult = (code: string, given: Caption, utteranceIndex: number): SchedulerToSession => ({
  type: 'translation_result',
  session_id: given.speaker,
  utterance_index: utteranceIndex,
  job_id: `${code}.${given.seq}`,
  trace_id: `${code}.${given.seq}`,
  text_asr: given.source?.text ?? given.text,
  text_translated: given.text,
  tts_audio: '',
  tts_format: 'pcm16',
  group_id: `${code}.${given.seq}`,
  part_index: 0,
});
