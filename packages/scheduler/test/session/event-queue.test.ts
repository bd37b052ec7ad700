/** A session handles one event after the other; waits are measured. */
import { expect, it } from 'vitest';
import type { SessionEvent } from '../../src/session/event.ts';
import { createEventQueue } from '../../src/session/event-queue.ts';
import type { Session } from '../../src/session/session.ts';

const HEARTBEAT: SessionEvent = { kind: 'heartbeat' };
const CLOSE: SessionEvent = { kind: 'close' };

function open(handle: (event: SessionEvent, post: (event: SessionEvent) => void) => void) {
  const state = { now: 1_000, waits: [] as number[], handled: [] as string[], onEmptied: 0 };
  const session = { queued: [], isBusy: false } as unknown as Session;
  const post = createEventQueue({
    clock: { now: () => state.now },
    slow: { waited: (_, ms) => void state.waits.push(ms), took() {} },
    handle(_, event) {
      state.handled.push(event.kind);
      handle(event, (next) => post(session, next));
    },
    onEmptied: () => {
      state.onEmptied += 1;
    },
  });
  return { ...state, state, session, post: (event: SessionEvent) => post(session, event) };
}

it('an event during another one waits, and the wait is measured', () => {
  const { state, post } = open((event, again) => {
    if (event.kind !== 'heartbeat') return;
    again(CLOSE);
    expect(state.handled).toEqual(['heartbeat']);
    state.now += 25;
  });
  post(HEARTBEAT);
  expect(state.handled).toEqual(['heartbeat', 'close']);
  expect(state.waits).toEqual([25]);
  expect(state.onEmptied).toBe(1);
});

it('an event in an empty queue has not waited', () => {
  const { state, post } = open(() => {
    state.now += 100;
  });
  post(HEARTBEAT);
  post(CLOSE);
  expect(state.waits).toEqual([]);
  expect(state.onEmptied).toBe(2);
});

it('a failed event does not block the next one', () => {
  const { state, post } = open((event) => {
    if (event.kind === 'heartbeat') throw new Error('no');
  });
  expect(() => post(HEARTBEAT)).toThrow('no');
  post(CLOSE);
  expect(state.handled).toEqual(['heartbeat', 'close']);
});
