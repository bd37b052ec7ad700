/** Rooms of a session: entering, captions once and in order, and coming back after a lost connection. */
import type { RoomCaption, RoomState, SchedulerToSession } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import type { Room, RoomEventName, RoomRefused } from '../../src/client/index.ts';
import { createOriginals } from '../../src/client/rooms/originals.ts';
import type { Script } from './support/scripted-scheduler.ts';
import { until } from './support/scripted-scheduler.ts';
import { bytes, startSession } from './support/start-session.ts';

const CODE = 'abc-def';

const stateOf = (more: Partial<RoomState> = {}): RoomState => ({
  type: 'room_state',
  room_code: CODE,
  room_id: 'room-1',
  session_id: 's-1',
  room_seq: 0,
  version: 1,
  recorded: true,
  locked: false,
  listeners: 3,
  languages: { es: 'ok' },
  members: [
    { session_id: 's-1', role: 'host', display_name: 'Ana', hears: 'de', joined_at_ms: 1 },
    { session_id: 's-2', role: 'speaker', speaks: 'en', muted: true, joined_at_ms: 2 },
  ],
  ...more,
});

const captionOf = (seq: number, more: Partial<RoomCaption> = {}): RoomCaption => ({
  type: 'room_caption',
  room_code: CODE,
  room_seq: seq,
  speaker: 's-2',
  lang: 'de',
  rev: 0,
  final: true,
  text: `hallo ${seq}`,
  text_lang: 'de',
  t0: 1_000,
  t1: 2_000,
  ...more,
});

type OnMessage = NonNullable<Script['onMessage']>;

const letIn: OnMessage = ({ type }, reply) => {
  if (type === 'room_join' || type === 'room_create') reply(stateOf());
};

const NAMES: readonly RoomEventName[] = [
  'changed',
  'caption',
  'voice',
  'speaking',
  'notice',
  'signal',
  'error',
  'ended',
];

function watch(room: Room) {
  const events: (readonly [name: string, event: Record<string, unknown>])[] = [];
  for (const name of NAMES) room.on(name, (event) => events.push([name, { ...event }]));
  const of = (name: RoomEventName) => events.filter(([each]) => each === name).map(([, event]) => event);
  return { events, of };
}

async function startRoom(onMessage: OnMessage = letIn) {
  const started = await startSession({}, { onMessage });
  const { session, scheduler } = started;
  const hears = { language: 'de', voice: true };
  const room = await session.rooms.join(CODE, { name: 'Ana', role: 'host', hears });
  const say = async (...messages: readonly SchedulerToSession[]) => {
    for (const message of messages) scheduler.send(message);
    await scheduler.caughtUp();
  };
  return { ...started, room, say, ...watch(room) };
}

describe('entering a room', () => {
  it('sends the wishes and returns the room with its people', async () => {
    const { scheduler, room } = await startRoom();
    expect(scheduler.ofType('room_join')).toEqual([
      {
        type: 'room_join',
        room_code: CODE,
        display_name: 'Ana',
        role: 'host',
        hears: { lang: 'de', captions: true, voice: true, original: 'duck' },
      },
    ]);
    expect(room).toMatchObject({ code: CODE, id: 'room-1', isRecorded: true, listeners: 3 });
    expect(room.people).toMatchObject([
      { id: 's-1', name: 'Ana', role: 'host', hears: 'de', isMe: true, isMuted: false },
      { id: 's-2', speaks: 'en', isMe: false, isMuted: true },
    ]);
  });

  it('rejects with the code of the refusal, and a second try is free', async () => {
    let tries = 0;
    const { session } = await startSession(
      {},
      {
        onMessage: ({ type }, reply) => {
          if (type !== 'room_join') return;
          tries += 1;
          reply(tries === 1 ? { type: 'room_error', code: 'ROOM_LOCKED', message: 'locked' } : stateOf());
        },
      },
    );
    await expect(session.rooms.join(CODE)).rejects.toMatchObject({ code: 'ROOM_LOCKED', message: 'locked' });
    await session.rooms.join(CODE);
    await expect(session.rooms.join(CODE)).rejects.toMatchObject({ code: 'ALREADY_IN_ROOM' });
  });

  it('asks again for a room whose answer was lost, but opens no second one', async () => {
    let isAnswering = false;
    const { session, scheduler, reconnect } = await startSession(
      {},
      { onMessage: (message, reply) => isAnswering && letIn(message, reply) },
    );
    const creating = session.rooms.create({ title: 'T', languages: ['es'] });
    const refused = creating.catch((error: RoomRefused) => error.code);
    await until(() => scheduler.ofType('room_create').length === 1);
    await reconnect();
    expect(await refused).toBe('WS_DISCONNECTED');
    const joining = session.rooms.join(CODE);
    await until(() => scheduler.ofType('room_join').length === 1);
    isAnswering = true;
    await reconnect();
    expect((await joining).id).toBe('room-1');
    expect(scheduler.ofType('room_create', 'ever')).toHaveLength(1);
  });
});

describe('in a room', () => {
  it('emits each caption once, and its translation when that came late', async () => {
    const { say, of } = await startRoom();
    const open = captionOf(2, { final: false, text: 'hello', text_lang: 'en' });
    await say(
      captionOf(1),
      open,
      captionOf(1),
      captionOf(3),
      open,
      captionOf(2, { rev: 1, source: 'hello' }),
    );
    await say(captionOf(2, { rev: 1 }), { ...captionOf(9), room_code: 'another' });
    expect(of('caption').map(({ seq, text, isFinal }) => [seq, text, isFinal])).toEqual([
      [1, 'hallo 1', true],
      [2, 'hello', false],
      [3, 'hallo 3', true],
      [2, 'hallo 2', true],
    ]);
  });

  it('emits voices, who speaks, notices and signals, and keeps its people up to date', async () => {
    const { say, of, room } = await startRoom();
    await say(
      {
        type: 'room_voice',
        room_code: CODE,
        room_seq: 1,
        speaker: 's-2',
        lang: 'de',
        tts_audio: 'AAAA',
        tts_format: 'pcm16',
      },
      { type: 'room_activity', room_code: CODE, speaking: ['s-2'] },
      { type: 'room_notice', room_code: CODE, code: 'voice_paused', lang: 'de' },
      { type: 'webrtc_offer', room_code: CODE, to: 's-2', sdp: { type: 'offer' } },
      {
        ...stateOf(),
        type: 'room_delta',
        version: 2,
        locked: true,
        left: ['s-2'],
        members: [{ session_id: 's-3', role: 'listener', joined_at_ms: 3 }],
      },
    );
    expect(of('voice')).toEqual([
      { seq: 1, speaker: 's-2', language: 'de', audio: new Uint8Array(3), format: 'pcm16' },
    ]);
    expect(of('speaking')).toEqual([{ ids: ['s-2'] }]);
    expect(of('notice')).toMatchObject([{ code: 'voice_paused', language: 'de' }]);
    expect(of('signal')).toEqual([{ from: 's-2', kind: 'offer', body: { type: 'offer' } }]);
    expect(room.people.map(({ id }) => id)).toEqual(['s-1', 's-3']);
    expect(room.isLocked).toBe(true);
  });

  it('sends what the scheduler understands, and emits what it refuses', async () => {
    const { scheduler, room, say, of } = await startRoom();
    room.hear({ language: 'fr' });
    room.speak('it');
    room.mute();
    room.moderate.mute('s-2');
    room.moderate.setRole('s-2', 'interpreter');
    room.moderate.lock();
    room.moderate.setLanguages(['es']);
    room.signal('s-2', 'offer', { type: 'offer' });
    room.signal('s-2', 'ice', { candidate: 'c' });
    await scheduler.caughtUp();
    expect(scheduler.refused).toEqual([]);
    expect(scheduler.ofType('room_update')).toMatchObject([
      { hears: { lang: 'fr', voice: false } },
      { speaks: 'it' },
      { muted: true },
    ]);
    expect(scheduler.ofType('room_moderate').map(({ action }) => action)).toEqual([
      'mute',
      'role',
      'lock',
      'languages',
    ]);
    await say({ type: 'room_error', code: 'LANGUAGE_UNAVAILABLE', message: 'no node' });
    expect(of('error')).toEqual([{ code: 'LANGUAGE_UNAVAILABLE', message: 'no node' }]);
  });

  it('ends once: by leaving, by its end, or with the session', async () => {
    const left = await startRoom();
    left.room.leave();
    left.room.leave();
    await left.scheduler.caughtUp();
    expect(left.of('ended')).toEqual([{ reason: 'left', message: '' }]);
    expect(left.scheduler.ofType('room_leave')).toHaveLength(1);

    const expired = await startRoom();
    await expired.say({ type: 'room_expired', room_code: CODE, message: 'silence' });
    expect(expired.of('ended')).toEqual([{ reason: 'ended', message: 'silence' }]);

    const closed = await startRoom();
    const end = closed.session.close();
    closed.clock.advance(60_000);
    await end;
    expect(closed.of('ended')).toMatchObject([{ reason: 'closed' }]);
  });
});

describe('a room over reconnects', () => {
  it('is entered again with the present wishes, after the last caption without gaps', async () => {
    const { scheduler, room, say, reconnect } = await startRoom();
    await say(captionOf(4), captionOf(5, { final: false }), captionOf(6));
    room.hear({ language: 'fr', original: 'off' });
    room.mute();
    await reconnect();
    await until(() => scheduler.ofType('room_update').length === 1);
    expect(scheduler.ofType('room_join')).toMatchObject([
      { after_seq: 4, role: 'host', hears: { lang: 'fr' } },
    ]);
    expect(scheduler.ofType('room_update')).toMatchObject([{ muted: true }]);
  });

  it('emits nothing twice, and asks for nothing that is not kept any more', async () => {
    const { scheduler, say, reconnect, of } = await startRoom();
    await say(captionOf(1), captionOf(2), {
      type: 'room_notice',
      room_code: CODE,
      code: 'missed',
      from: 3,
      to: 9,
    });
    await reconnect();
    expect(scheduler.ofType('room_join')).toMatchObject([{ after_seq: 9 }]);
    await say(captionOf(2), captionOf(10));
    expect(of('caption').map(({ seq }) => seq)).toEqual([1, 2, 10]);
  });

  it('is tried again after a passing refusal, and ends if it is gone', async () => {
    const answers: SchedulerToSession[] = [
      stateOf(),
      { type: 'room_error', code: 'RATE_LIMITED', message: '' },
      { type: 'room_error', code: 'ROOM_NOT_FOUND', message: 'gone' },
    ];
    const { scheduler, clock, reconnect, of } = await startRoom(({ type }, reply) => {
      const next = type === 'room_join' ? answers.shift() : undefined;
      if (next !== undefined) reply(next);
    });
    await reconnect();
    await scheduler.caughtUp();
    expect(of('ended')).toEqual([]);
    clock.advance(1_000);
    await until(() => of('ended').length === 1);
    expect(of('ended')).toEqual([{ reason: 'ROOM_NOT_FOUND', message: 'gone' }]);
    await reconnect();
    expect(scheduler.ofType('room_join')).toEqual([]);
  });

  it('speech waits until the room is entered again', async () => {
    let isAnswered = true;
    const { session, scheduler, reconnect, say } = await startRoom((message, reply) => {
      if (isAnswered) letIn(message, reply);
    });
    isAnswered = false;
    await reconnect();
    session.sendUtterance(bytes('hello'));
    await scheduler.caughtUp();
    expect(scheduler.ofType('utterance')).toEqual([]);
    await say(stateOf());
    await until(() => scheduler.ofType('utterance').length === 1);
  });

  it('speech does not wait for a room that is gone', async () => {
    const answers: SchedulerToSession[] = [
      stateOf(),
      { type: 'room_error', code: 'ROOM_NOT_FOUND', message: 'gone' },
    ];
    const { session, scheduler, reconnect } = await startRoom(({ type }, reply) => {
      const next = type === 'room_join' ? answers.shift() : undefined;
      if (next !== undefined) reply(next);
    });
    session.sendUtterance(bytes('hello'));
    await reconnect();
    await until(() => scheduler.ofType('utterance').length === 1);
  });

  it('leaves the speech of the session alone', async () => {
    const { session, scheduler, reconnect } = await startRoom();
    session.sendUtterance(bytes('hello'));
    await reconnect();
    await until(() => scheduler.ofType('utterance').length === 1);
    expect(scheduler.refused).toEqual([]);
  });
});

describe('originals', () => {
  const element = () => ({ volume: 0.7, muted: false });

  it('are ducked to 0.15 while a translation is heard', () => {
    const originals = createOriginals(false);
    const [one, other] = [element(), element()];
    originals.add(one);
    const release = originals.add(other);
    expect(one).toEqual({ volume: 1, muted: false });
    originals.playing(true);
    expect([one, other]).toEqual([
      { volume: 0.15, muted: false },
      { volume: 0.15, muted: false },
    ]);
    release();
    originals.playing(false);
    expect(one.volume).toBe(1);
    expect(other.volume).toBe(0.15);
  });

  it('are muted where a page cannot change volumes', () => {
    const originals = createOriginals(true);
    const one = element();
    originals.add(one);
    originals.playing(true);
    expect(one).toEqual({ volume: 0.7, muted: true });
    originals.playing(false);
    expect(one.muted).toBe(false);
  });

  it('follow the wish: off is silent, full is never ducked', () => {
    const originals = createOriginals(false);
    const one = element();
    originals.add(one);
    originals.playing(true);
    originals.wish('full');
    expect(one).toEqual({ volume: 1, muted: false });
    originals.wish('off');
    expect(one.muted).toBe(true);
  });
});
