/** A scheduler that asks for less gets less, and nothing is lost by it. */
import { describe, expect, it } from 'vitest';
import { neverResumes } from './support/scripted-scheduler.ts';
import { accepted, bytes, result, type Started, startSession } from './support/start-session.ts';

async function applyBackpressure(
  { scheduler }: Started,
  action: 'BUSY' | 'PAUSE' | 'SLOW_DOWN',
  resumeAfterMs?: number,
): Promise<void> {
  scheduler.send({
    type: 'backpressure',
    action,
    ...(resumeAfterMs === undefined ? {} : { resume_after_ms: resumeAfterMs }),
  });
  await scheduler.caughtUp();
}

/** What has arrived after so much time. */
async function after({ clock, scheduler }: Started, ms: number): Promise<string[]> {
  clock.advance(ms);
  await scheduler.caughtUp();
  return scheduler.heardHere();
}

const say = ({ session }: Started, ...texts: string[]): void => {
  for (const text of texts) session.sendAudio(bytes(text));
};

describe('PAUSE', () => {
  it.each([
    ['as long as it says', 700, 700],
    ['five seconds if it does not say', undefined, 5_000],
    ['a minute at most', 10_000_000_000, 60_000],
  ])('holds audio back %s', async (_, resumeAfterMs, expectedMs) => {
    const started = await startSession({ timings: { silenceMs: 1_000_000 } });
    await applyBackpressure(started, 'PAUSE', resumeAfterMs);
    say(started, 'a', 'b');
    expect(await after(started, expectedMs - 1)).toEqual([]);
    expect(await after(started, 1)).toEqual(['2ab']);
    expect(started.of('backpressure')).toEqual([{ type: 'backpressure', action: 'PAUSE', resumeAfterMs }]);
  });

  it('is shortened or lengthened by the next one', async () => {
    const started = await startSession();
    await applyBackpressure(started, 'PAUSE', 5_000);
    say(started, 'a');
    await applyBackpressure(started, 'PAUSE', 0);
    expect(await after(started, 0)).toEqual(['1a']);
  });

  it('holds whole utterances back as well, but no heartbeats, receipts or playback', async () => {
    const started = await startSession({ timings: { heartbeatMs: 1_000 } });
    const { scheduler, session, clock } = started;
    await applyBackpressure(started, 'PAUSE', 5_000);
    session.sendUtterance(bytes('a'));
    session.playbackStarted('group-1', 'trace-1');
    scheduler.send(result(9));
    await scheduler.caughtUp();
    clock.advance(1_000);
    await scheduler.caughtUp();
    expect(scheduler.received.slice(1).map(({ type }) => type)).toEqual([
      'tts_started',
      'result_ack',
      'client_heartbeat',
    ]);
  });

  it('outlasts a resumed connection, but not the session', async () => {
    const started = await startSession(
      {},
      {
        answer: (init, count) =>
          count === 2 ? { ...neverResumes(init, 1), resumed: true } : neverResumes(init, count),
      },
    );
    await applyBackpressure(started, 'PAUSE', 5_000);
    say(started, 'a');
    await started.reconnect();
    expect(started.of('open').at(-1)?.resumed).toBe(true);
    expect(started.scheduler.heardHere()).toEqual([]);
    await started.reconnect();
    expect(started.of('open').at(-1)?.resumed).toBe(false);
    expect(started.scheduler.heardHere()).toEqual(['1a']);
  });
});

describe.each(['SLOW_DOWN', 'BUSY'] as const)('%s', (action) => {
  it('lets one frame pass every half second, with everything that waits of the utterance in it', async () => {
    const started = await startSession();
    await applyBackpressure(started, action, 2_000);
    say(started, 'a');
    expect(await after(started, 0)).toEqual(['1a']);
    say(started, 'b', 'c');
    expect(await after(started, 499)).toEqual(['1a']);
    expect(await after(started, 1)).toEqual(['1a', '3bc']);
    say(started, 'd');
    started.session.endUtterance();
    say(started, 'e');
    expect(await after(started, 500)).toEqual(['1a', '3bc', '4d!']);
    expect(await after(started, 500)).toEqual(['1a', '3bc', '4d!', '5e']);
    // Two seconds are over.
    await after(started, 500);
    say(started, 'f', 'g');
    expect(await after(started, 0)).toEqual(['1a', '3bc', '4d!', '5e', '6f', '7g']);
  });

  it('lasts five seconds if it does not say how long', async () => {
    const started = await startSession();
    await applyBackpressure(started, action);
    say(started, 'a', 'b');
    started.clock.advance(500);
    await after(started, 4_499);
    say(started, 'c', 'd');
    expect(await after(started, 0)).toEqual(['1a', '2b', '3c']);
    expect(await after(started, 1)).toEqual(['1a', '2b', '3c', '4d']);
  });
});

it('what was joined is accepted and sent again as one', async () => {
  const started = await startSession({}, { answer: neverResumes });
  await applyBackpressure(started, 'PAUSE', 100);
  say(started, 'a', 'b', 'c');
  expect(await after(started, 100)).toEqual(['3abc']);
  say(started, 'd');
  await started.scheduler.caughtUp();
  started.scheduler.send(accepted(0, 3, 3));
  await started.scheduler.caughtUp();
  await started.reconnect();
  expect(started.scheduler.heardHere()).toEqual(['3abc!', '4d']);
});

it('joined frames stay within their limit', async () => {
  const started = await startSession({ limits: { maxJoinedBytes: 4 } });
  await applyBackpressure(started, 'PAUSE', 100);
  say(started, 'aaa', 'b', 'ccc', 'ddddd', 'e');
  expect(await after(started, 100)).toEqual(['2aaab', '3ccc', '4ddddd', '5e']);
});

it('sends again what the scheduler had no room for', async () => {
  const started = await startSession();
  const { scheduler, session } = started;
  say(started, 'a', 'b', 'c');
  session.sendUtterance(bytes('whole'), { requestId: 'req-1' });
  await scheduler.caughtUp();
  const refuse = (details: object): void =>
    scheduler.send({ type: 'error', code: 'RATE_LIMITED', message: 'no room', details });
  for (const details of [{ seq: 3 }, { seq: 2 }, { request_id: 'req-1' }, { seq: 9 }]) refuse(details);
  await scheduler.caughtUp();
  say(started, 'd');
  expect(await after(started, 999)).toEqual(['1a', '2b', '3c']);
  // The last refusal was of something unknown, and only slows down.
  expect(await after(started, 1)).toEqual(['1a', '2b', '3c', '2b']);
  expect(await after(started, 1_500)).toEqual(['1a', '2b', '3c', '2b', '3c', '4d']);
  expect(scheduler.ofType('utterance').map((each) => each.request_id)).toEqual(['req-1', 'req-1']);
  scheduler.send(accepted(0, 1, 4));
  scheduler.send({ type: 'utterance_accepted', utterance_index: 1, job_id: 'job', request_id: 'req-1' });
  for (const index of [0, 1]) scheduler.send(result(index));
  await session.settled();
});

it('RATE_LIMITED slows down as well', async () => {
  const started = await startSession();
  started.scheduler.send({ type: 'error', code: 'RATE_LIMITED', message: 'too many messages' });
  await started.scheduler.caughtUp();
  say(started, 'a', 'b');
  expect(await after(started, 499)).toEqual(['1a']);
  expect(await after(started, 1)).toEqual(['1a', '2b']);
});

it('never sends faster than a scheduler takes by default, however much is to be sent again', async () => {
  const started = await startSession();
  const { session, scheduler, clock } = started;
  for (let index = 0; index < 60; index += 1) {
    say(started, 'x');
    clock.advance(10);
  }
  await scheduler.caughtUp();
  for (let index = 0; index < 200; index += 1) {
    say(started, 'y');
    clock.advance(10);
  }
  await scheduler.caughtUp();
  expect(scheduler.heardHere()).toHaveLength(260);
  clock.advance(1_000);
  await started.reconnect();
  expect(scheduler.heardHere()).toHaveLength(100);
  clock.advance(500);
  await scheduler.caughtUp();
  expect(scheduler.heardHere()).toHaveLength(150);
  clock.advance(2_000);
  await scheduler.caughtUp();
  expect(scheduler.heardHere()).toHaveLength(260);
  expect(session.unsettledBytes).toBe(260);
});

it('waits while the socket is full', async () => {
  const started = await startSession({ limits: { maxSocketBytes: 1_000_000 } });
  const { session, scheduler, clock } = started;
  scheduler.freeze();
  const piece = new Uint8Array(200_000);
  for (let index = 0; index < 40; index += 1) session.sendAudio(piece);
  // The kernel takes some, the socket one more after its limit, the rest stays here.
  expect(clock.waiting()).toContain(50);
  expect(session.unsettledBytes).toBe(8_000_000);
});
