/**
 * Simulation: a person in a room, through the real client SDK: enters, speaks, reads captions, and comes back after lost connections. One that
 * roams only listens, comes late, leaves, and comes again with another language.
 */
import { type Room, RoomRefused, type Session, type SessionClock } from '@lingua/sdk/client';
import type { Recorder } from '../history.ts';
import { readStamped } from '../stamped-text.ts';

/** What people tell each other outside: the code of their room. */
export interface Invitation {
  code: string | undefined;
}

export interface PersonDeps {
  readonly client: string;
  readonly session: Session;
  readonly clock: SessionClock;
  readonly chance: () => number;
  readonly recorder: Recorder;
  readonly invitation: Invitation;
  /** Opens the room if there is none. */
  readonly isHost: boolean;
  /** It speaks the first of these languages and hears it; one that roams hears one after the other. */
  readonly languages: readonly [string, ...string[]];
  readonly isRoaming: boolean;
}

export interface Person {
  /** The room that it is in. */
  room(): string | undefined;
  /** A message from the scheduler, before the SDK handles it. */
  overhear(text: string, instance: string | undefined): void;
  /** It stays where it is. */
  settle(): void;
}

/** A room whose code is unknown for this long has ended; after a failover codes are written again. */
const PATIENCE_MS = 5_000;
const AGAIN_MS = 1_000;
/** How long one that roams stays in a room, and out of it. */
const STAYS_MS = [2_000, 12_000] as const;
const AWAY_MS = [500, 12_000] as const;

interface Frame {
  readonly type: string;
  readonly room_code?: string;
  readonly session_id?: string;
  readonly room_seq?: number;
  readonly speaker?: string;
  readonly lang?: string;
  readonly final?: boolean;
  readonly text?: string;
  readonly error_code?: string;
}

export function startPerson(deps: PersonDeps): Person {
  const { client, session, clock, chance, invitation, isHost, isRoaming, languages } = deps;
  const { record } = deps.recorder;
  let room: Room | undefined;
  /** The room to which the connection belongs now. */
  let entered: string | undefined;
  /** The room that it has asked for, or is in. */
  let wanted: string | undefined;
  let language = languages[0];
  let turn = 0;
  let isSettled = false;

  const sleep = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const between = ([from, to]: readonly [number, number]): number => from + chance() * (to - from);

  function want(code: string): void {
    if (wanted === code) return;
    wanted = code;
    record({ kind: 'room_wanted', client, room: code, language });
  }

  function overhear(text: string, instance: string | undefined): void {
    if (!text.includes('"room_')) return;
    const frame = JSON.parse(text) as Frame;
    const { type, room_code: code = '' } = frame;
    const by = instance !== undefined && { instance };
    if (type === 'room_state') {
      want(code);
      entered = code;
      record({ kind: 'room_entered', client, room: code, member: frame.session_id ?? '', ...by });
    } else if (type === 'room_caption')
      record({
        kind: 'captioned',
        client,
        room: code,
        seq: frame.room_seq ?? 0,
        speaker: frame.speaker ?? '',
        language: frame.lang ?? '',
        isFinal: frame.final !== false,
        result: readStamped(frame.text ?? ''),
        ...(frame.error_code !== undefined && { missing: frame.error_code }),
        ...by,
      });
  }

  session.on('disconnected', () => {
    if (entered !== undefined) record({ kind: 'room_lost', client, room: entered });
    entered = undefined;
  });

  async function enter(): Promise<Room | undefined> {
    if (isRoaming) language = languages[turn % languages.length] ?? languages[0];
    turn += 1;
    const wishes = { name: client, hears: { language }, ...(!isRoaming && { speaks: language }) };
    const { code } = invitation;
    if (code === undefined) {
      if (!isHost) return undefined;
      const created = await session.rooms.create(wishes);
      invitation.code = created.code;
      return created;
    }
    want(code);
    return session.rooms.join(code, isRoaming ? { ...wishes, role: 'listener' } : wishes);
  }

  function leave(code: string, why: string): void {
    room = undefined;
    wanted = undefined;
    entered = undefined;
    record({ kind: 'room_left', client, room: code, why });
  }

  /** Resolves when it is out of the room. */
  async function attend(own: Room): Promise<void> {
    const { code } = own;
    room = own;
    await new Promise<void>((resolve) => {
      own.on('ended', ({ reason }) => {
        leave(code, reason);
        resolve();
      });
      if (isRoaming)
        clock.after(between(STAYS_MS), () => {
          if (room === own && !isSettled) own.leave();
        });
    });
  }

  async function live(): Promise<void> {
    if (isRoaming) await sleep(between(STAYS_MS));
    let unknownSince: number | undefined;
    for (;;) {
      try {
        const own = await enter();
        if (own !== undefined) {
          unknownSince = undefined;
          await attend(own);
          if (isRoaming) await sleep(between(AWAY_MS));
          continue;
        }
      } catch (error) {
        if (!(error instanceof RoomRefused)) throw error;
        if (wanted !== undefined) leave(wanted, error.code);
        if (error.code === 'SESSION_CLOSED') return;
        if (error.code === 'ROOM_NOT_FOUND') {
          unknownSince ??= clock.now();
          if (isHost && clock.now() - unknownSince > PATIENCE_MS) invitation.code = undefined;
        } else unknownSince = undefined;
      }
      await sleep(AGAIN_MS);
    }
  }

  void live();
  return {
    room: () => room?.code,
    overhear,
    settle() {
      isSettled = true;
    },
  };
}
