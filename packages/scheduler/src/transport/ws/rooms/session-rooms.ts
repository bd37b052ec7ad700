/** Hot path: the room messages of one connection: reads them, calls the rooms, and writes what its member gets. */
import type {
  Hears as HearsMessage,
  Problem,
  RoomCreate,
  RoomJoin,
  RoomModerate,
  SessionToScheduler,
} from '@lingua/protocol';
import type { SessionId, TenantId } from '../../../domain/ids.ts';
import { foldLanguage, type Language } from '../../../domain/language.ts';
import type { Hears, RoomRefusal } from '../../../domain/room.ts';
import type { RoomLink, RoomOutput } from '../../../session/rooms/room-output.ts';
import type { Attendee, Moderation, RoomMembers } from '../../../session/rooms/room-service.ts';
import type { SessionService } from '../../../session/session-service.ts';
import type { Principal } from '../../access/gate.ts';
import { languageRefusal } from '../../access/token-scope.ts';
import type { GuardedSocket } from '../guarded-socket.ts';
import { toLegacyResult, toRoomMessage } from './write-room-messages.ts';

export type RoomMessage = Extract<SessionToScheduler, { type: `room_${string}` | `webrtc_${string}` }>;

export const isRoomMessage = (type: string): boolean =>
  type.startsWith('room_') || type.startsWith('webrtc_');

/** Encodes a message once, however many members get it. */
export type RoomFrames = (output: RoomOutput) => string;

export function createRoomFrames(): RoomFrames {
  const encoded = new WeakMap<RoomOutput, string>();
  return (output) => {
    const text = encoded.get(output) ?? JSON.stringify(toRoomMessage(output));
    encoded.set(output, text);
    return text;
  };
}

export interface SessionRooms {
  receive(message: RoomMessage): Promise<void>;
  /** Legacy clients show every `error` as an alert, so that what concerns rooms is a `room_error`, which they only log. */
  reject(problem: Problem): void;
  /** The connection has another session now, or has ended. */
  left(sessionId: SessionId): void;
}

export function createSessionRooms(deps: {
  readonly rooms: RoomMembers;
  readonly frames: RoomFrames;
  readonly sessions: Pick<SessionService, 'takeIndex'>;
  readonly socket: GuardedSocket;
  readonly principal: Principal;
  readonly address: string;
  /** The session of the connection; undefined: none is open. */
  readonly session: () =>
    | {
        readonly sessionId: SessionId;
        readonly tenantId: TenantId;
        readonly isLegacy: boolean;
        readonly source: Language;
        readonly target: Language;
      }
    | undefined;
}): SessionRooms {
  const { rooms, socket, principal } = deps;

  const link: RoomLink = {
    sendRoom(output) {
      const session = deps.session();
      if (output.kind !== 'caption' || session?.isLegacy !== true) {
        socket.send(deps.frames(output));
        return;
      }
      const index = deps.sessions.takeIndex(session.sessionId);
      if (index !== undefined)
        socket.send(JSON.stringify(toLegacyResult(output.code, output.caption, index)));
    },
    unsentBytes: () => socket.unsentBytes(),
  };

  function refuse({ code, message }: Pick<RoomRefusal, 'code' | 'message'>): void {
    socket.send(JSON.stringify({ type: 'room_error', code, message }));
  }

  function reject(problem: Problem): void {
    if (deps.session()?.isLegacy !== true) {
      socket.reject(problem);
      return;
    }
    socket.noteInvalid(problem);
    refuse({
      code: problem.path === '/room_code' ? 'INVALID_ROOM_CODE' : 'INTERNAL_ERROR',
      message: problem.message,
    });
  }

  function entering(message: RoomCreate | RoomJoin) {
    const hears = readHears(message.hears) ?? hearsOnly(message.preferred_lang);
    return { name: message.display_name, speaks: message.speaks, hears };
  }

  function join(by: Attendee, message: RoomJoin) {
    const { room } = principal.scope ?? {};
    const order = {
      ...entering(message),
      code: message.room_code,
      role: message.role,
      channel: message.channel,
      afterSeq: message.after_seq,
      grant: room,
    };
    return rooms.join(by, order, link);
  }

  function create(by: Attendee, { title, recorded, languages, ...message }: RoomCreate) {
    const settings = { title, isRecorded: recorded, fixedLanguages: languages };
    return rooms.create(by, { ...entering(message), settings }, link);
  }

  async function moderate(sessionId: SessionId, message: RoomModerate): Promise<RoomRefusal | undefined> {
    const order = readModeration(message);
    if ('path' in order) {
      socket.reject(order);
      return undefined;
    }
    return rooms.moderate(sessionId, order);
  }

  async function answer(message: RoomMessage): Promise<RoomRefusal | undefined> {
    const session = deps.session();
    if (session === undefined) {
      socket.sendError('INVALID_SESSION', 'open a session with session_init before you use rooms');
      return undefined;
    }
    const { sessionId } = session;
    const beyond = languageRefusal(principal.scope, {
      src_lang: 'speaks' in message ? message.speaks : undefined,
      tgt_lang: 'hears' in message ? message.hears?.lang : undefined,
    });
    if (beyond !== undefined) return { kind: 'refused', code: 'FORBIDDEN', message: beyond.message };
    switch (message.type) {
      case 'room_create':
        if (principal.scope?.room !== undefined)
          return { kind: 'refused', code: 'FORBIDDEN', message: 'a token for one room creates no other' };
        return create({ ...session, address: deps.address }, message);
      case 'room_join':
        return join({ ...session, address: deps.address }, message);
      case 'room_leave':
        return rooms.leave(sessionId, message.room_code);
      case 'room_raw_voice_preference':
        return rooms.setRawVoice(
          sessionId,
          message.room_code,
          message.target_session_id,
          message.receive_raw_voice,
        );
      case 'room_update':
        return rooms.update(sessionId, {
          hears: readHears(message.hears),
          speaks: message.speaks,
          isMuted: message.muted,
        });
      case 'room_moderate':
        return moderate(sessionId, message);
      case 'webrtc_offer':
        return rooms.relay(sessionId, message.room_code, {
          kind: 'offer',
          to: message.to,
          body: message.sdp,
        });
      case 'webrtc_answer':
        return rooms.relay(sessionId, message.room_code, {
          kind: 'answer',
          to: message.to,
          body: message.sdp,
        });
      case 'webrtc_ice':
        return rooms.relay(sessionId, message.room_code, {
          kind: 'ice',
          to: message.to,
          body: message.candidate,
        });
    }
  }

  return {
    async receive(message) {
      const refused = await answer(message);
      if (refused !== undefined) refuse(refused);
    },
    reject,
    left: (sessionId) => rooms.detached(sessionId, link),
  };
}

function readHears(given: HearsMessage | undefined): Hears | undefined {
  if (given === undefined) return undefined;
  const { lang, captions = true, voice = false, original = 'duck' } = given;
  return { language: foldLanguage(lang), isCaptionWanted: captions, isVoiceWanted: voice, original };
}

const hearsOnly = (language: string | undefined): Hears | undefined =>
  language === undefined || language === '' ? undefined : readHears({ lang: language });

function readModeration({ action, member, role, languages }: RoomModerate): Moderation | Problem {
  switch (action) {
    case 'lock':
    case 'unlock':
    case 'end':
      return { action };
    case 'languages':
      return languages === undefined ? missing('languages', action) : { action, languages };
    case 'role':
      if (role === undefined) return missing('role', action);
      return member === undefined ? missing('member', action) : { action, memberId: member, role };
    default:
      return member === undefined ? missing('member', action) : { action, memberId: member };
  }
}

const missing = (field: string, action: string): Problem => ({
  path: `/${field}`,
  message: `"${field}" is needed for the action ${action}`,
});
