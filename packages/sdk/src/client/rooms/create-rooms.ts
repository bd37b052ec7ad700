/** The rooms of a session: enters one, keeps it over reconnects, and translates its messages to events. */
import type { SessionClock } from '../clock.ts';
import { asText, type ServerFrame } from '../read-frame.ts';
import type { Outgoing } from '../session-messages.ts';
import { createJoinedRoom, type JoinedRoom } from './joined-room.ts';
import { type CreateOptions, type JoinOptions, type Room, RoomRefused, type Rooms } from './room.ts';
import { entering } from './room-messages.ts';

/** Delay before a room is entered again that could not be entered at the moment. */
const AGAIN_MS = 1_000;
const PASSING = new Set(['RATE_LIMITED', 'SCHEDULER_DEPENDENCY_DOWN', 'INTERNAL_ERROR']);

interface Entry {
  readonly message: () => Outgoing;
  readonly wishes: JoinOptions;
  readonly isRepeatable: boolean;
  resolve(room: Room): void;
  reject(refused: RoomRefused): void;
}

export interface SessionRooms {
  readonly rooms: Rooms;
  /** False: the frame does not concern rooms. */
  receive(frame: ServerFrame): boolean;
  /** A room was asked for again after a reconnect, and has not answered. */
  isReturning(): boolean;
  /** The session is open, perhaps again. */
  opened(): void;
  lost(): void;
  closed(): void;
}

export function createRooms(deps: {
  /** False: there is no connection, and nothing was sent. */
  readonly send: (message: Outgoing) => boolean;
  readonly clock: SessionClock;
  /** The session is in its room again, or the room is over. */
  readonly onReturned: () => void;
  readonly onListenerError: (error: unknown) => void;
}): SessionRooms {
  const { send, clock } = deps;
  let entry: Entry | undefined;
  let room: JoinedRoom | undefined;
  let isReturning = false;

  function enter(wishes: JoinOptions, message: () => Outgoing, isRepeatable: boolean): Promise<Room> {
    if (entry !== undefined || room !== undefined)
      return Promise.reject(
        new RoomRefused('ALREADY_IN_ROOM', 'this session is in a room already: leave it first'),
      );
    return new Promise((resolve, reject) => {
      entry = { message, wishes, isRepeatable, resolve, reject };
      send(message());
    });
  }

  function comeBack(): void {
    if (room === undefined) return;
    isReturning = true;
    send(room.returning());
  }

  function state(frame: ServerFrame): void {
    const code = asText(frame.room_code) ?? '';
    if (entry !== undefined) {
      const { resolve, wishes } = entry;
      entry = undefined;
      room = createJoinedRoom({
        ...deps,
        code,
        wishes,
        onEnded: () => {
          room = undefined;
          returned();
        },
      });
      room.receive(frame);
      resolve(room.room);
    } else if (room !== undefined) {
      room.receive(frame);
      returned();
    }
  }

  function returned(): void {
    if (!isReturning) return;
    isReturning = false;
    deps.onReturned();
  }

  function refused(code: string, message: string): void {
    if (entry !== undefined) {
      const { reject } = entry;
      entry = undefined;
      reject(new RoomRefused(code, message));
    } else if (isReturning && PASSING.has(code)) clock.after(AGAIN_MS, () => isReturning && comeBack());
    else if (isReturning) room?.end(code, message);
    else room?.fail(code, message);
  }

  return {
    rooms: {
      create: (options: CreateOptions = {}) =>
        enter(
          options,
          () => ({
            type: 'room_create',
            client_ts: clock.now(),
            ...entering(options),
            title: options.title,
            recorded: options.recorded,
            languages: options.languages && [...options.languages],
          }),
          false,
        ),
      join: (code, options: JoinOptions = {}) =>
        enter(
          options,
          () => ({
            type: 'room_join',
            room_code: code,
            ...entering(options),
            role: options.role,
            channel: options.channel,
          }),
          true,
        ),
    },
    receive(frame) {
      const { type } = frame;
      if (!type.startsWith('room_') && !type.startsWith('webrtc_')) return false;
      if (type === 'room_state') state(frame);
      else if (type === 'room_error')
        refused(asText(frame.code) ?? 'INTERNAL_ERROR', asText(frame.message) ?? '');
      else room?.receive(frame);
      return true;
    },
    isReturning: () => isReturning,
    opened() {
      if (entry !== undefined) send(entry.message());
      else comeBack();
    },
    lost() {
      // A second room would be opened, if only the answer was lost.
      if (entry?.isRepeatable === false)
        refused('WS_DISCONNECTED', 'the connection broke before the room was open: create it again');
    },
    closed() {
      if (entry !== undefined) refused('SESSION_CLOSED', 'the session has ended');
      room?.end('closed', 'the session has ended');
    },
  };
}
