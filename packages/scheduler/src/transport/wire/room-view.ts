/** Rooms and captions as people and programs get them, over HTTP and over sockets. Pure. */
import type { CaptionView, RoomMember as RoomMemberView, RoomSummary, RoomView } from '@lingua/protocol';
import type { RoomMember, RoomRecord } from '../../domain/room.ts';
import type { Caption } from '../../session/rooms/room-service.ts';
import { unlisted } from '../../session/rooms/room-steps.ts';
import { omitUndefined } from './omit-undefined.ts';

export const viewMember = (member: RoomMember): RoomMemberView =>
  omitUndefined({
    session_id: member.memberId,
    display_name: member.name,
    role: member.role,
    speaks: member.speaks,
    hears: member.hears?.language,
    channel: member.channel,
    muted: member.isMuted ? true : undefined,
    away: member.awaySince === undefined ? undefined : true,
    joined_at_ms: member.joinedAt,
  });

const factsOf = (room: RoomRecord) => ({
  room_id: room.roomId,
  room_code: room.code,
  tenant_id: room.tenantId,
  title: room.title,
  recorded: room.isRecorded,
  locked: room.isLocked,
  languages: [...room.fixedLanguages],
  listeners: unlisted(room),
  created_at_ms: room.createdAt,
  active_at_ms: room.activeAt,
  ended_at_ms: room.endedAt,
});

export const viewRoom = (room: RoomRecord): RoomView =>
  omitUndefined({ ...factsOf(room), members: room.members.map(viewMember) });

export const summarizeRoom = (room: RoomRecord): RoomSummary =>
  omitUndefined({ ...factsOf(room), members: room.members.length });

export const viewCaption = (caption: Caption): CaptionView =>
  omitUndefined({
    room_seq: caption.seq,
    speaker: caption.speaker,
    speaker_name: caption.speakerName,
    lang: caption.language,
    rev: caption.revision,
    final: caption.isFinal,
    text: caption.text,
    text_lang: caption.isTranslated ? caption.language : (caption.source?.language ?? caption.language),
    error_code: caption.failed,
    source: caption.isTranslated ? caption.source?.text : undefined,
    source_lang: caption.source?.language,
    t0: caption.startedAt,
    t1: caption.endedAt,
  });
