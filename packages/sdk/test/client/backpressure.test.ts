/** The client sends less when the scheduler requests it, and loses nothing. */
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

/** What has arrived after this time. */
async function after({ clock, scheduler }: Started, ms: number): Promise<string[]> {
  clock.advance(ms);
  await scheduler.caughtUp();
  return scheduler.chunksHere();
}

const say = ({ session }: Started, ...texts: string[]): void => {
  for (const text of texts) session.sendAudio(bytes(text));
};

describe('PAUSE', () => {
  it.each([
    ['for the requested time', 700, 700],
    ['for five seconds by default', undefined, 5_000],
    ['for a minute at most', 10_000_000_000, 60_000],
  ])('PAUSE holds audio back %s', async (_, resumeAfterMs, expectedMs) => {
    const started = await startSession({ timings: { silenceMs: 1_000_000 } });
    await applyBackpressure(started, 'PAUSE', resumeAfterMs);
    say(started, 'a', 'b');
    expect(await after(started, expectedMs - 1)).toEqual([]);
    expect(await after(started, 1)).toEqual(['2ab']);
    expect(started.of('backpressure')).toEqual([{ type: 'backpressure', action: 'PAUSE', resumeAfterMs }]);
  });

  it('a later PAUSE replaces an earlier one', async () => {
    const started = await startSession();
    await applyBackpressure(started, 'PAUSE', 5_000);
    say(started, 'a');
    await applyBackpressure(started, 'PAUSE', 0);
    expect(await after(started, 0)).toEqual(['1a']);
  });

  it('PAUSE also holds utterances, but not heartbeats, receipts or playback', async () => {
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

  it('PAUSE survives a resume, but not a new session', async () => {
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
    expect(started.scheduler.chunksHere()).toEqual([]);
    await started.reconnect();
    expect(started.of('open').at(-1)?.resumed).toBe(false);
    expect(started.scheduler.chunksHere()).toEqual(['1a']);
  });
});

describe.each(['SLOW_DOWN', 'BUSY'] as const)('%s', (action) => {
  it('one frame per half second carries all waiting chunks of the utterance', async () => {
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
    // Two seconds have passed.
    await after(started, 500);
    say(started, 'f', 'g');
    expect(await after(started, 0)).toEqual(['1a', '3bc', '4d!', '5e', '6f', '7g']);
  });

  it('slowing down lasts five seconds by default', async () => {
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

it('joined chunks are accepted and resent as one', async () => {
  const started = await startSession({}, { answer: neverResumes });
  await applyBackpressure(started, 'PAUSE', 100);
  say(started, 'a', 'b', 'c');
  expect(await after(started, 100)).toEqual(['3abc']);
  say(started, 'd');
  await started.scheduler.caughtUp();
  started.scheduler.send(accepted(0, 3, 3));
  await started.scheduler.caughtUp();
  await started.reconnect();
  expect(started.scheduler.chunksHere()).toEqual(['3abc!', '4d']);
});

it('joined frames stay within their limit', async () => {
  const started = await startSession({ limits: { maxJoinedBytes: 4 } });
  await applyBackpressure(started, 'PAUSE', 100);
  say(started, 'aaa', 'b', 'ccc', 'ddddd', 'e');
  expect(await after(started, 100)).toEqual(['2aaab', '3ccc', '4ddddd', '5e']);
});

it('chunks that the scheduler refused for lack of space are sent again', async () => {
  const started = await startSession();
  const { scheduler, session } = started;
  say(started, 'a', 'b', 'c');
  session.sendUtterance(bytes('whole'), { requestId: 'req-1' });
  await scheduler.caughtUp();
  const refuse = (details: object): void =>
    scheduler.send({ type: 'error', code: 'RATE_LIMITED', message: 'no space', details });
  for (const details of [{ seq: 3 }, { seq: 2 }, { request_id: 'req-1' }, { seq: 9 }]) refuse(details);
  await scheduler.caughtUp();
  say(started, 'd');
  expect(await after(started, 999)).toEqual(['1a', '2b', '3c']);
  // The last refusal was for an unknown chunk and only slows down.
  expect(await after(started, 1)).toEqual(['1a', '2b', '3c', '2b']);
  expect(await after(started, 1_500)).toEqual(['1a', '2b', '3c', '2b', '3c', '4d']);
  expect(scheduler.ofType('utterance').map((each) => each.request_id)).toEqual(['req-1', 'req-1']);
  scheduler.send(accepted(0, 1, 4));
  scheduler.send({ type: 'utterance_accepted', utterance_index: 1, job_id: 'job', request_id: 'req-1' });
  for (const index of [0, 1]) scheduler.send(result(index));
  await session.settled();
});

it('RATE_LIMITED slows sending down', async () => {
  const started = await startSession();
  started.scheduler.send({ type: 'error', code: 'RATE_LIMITED', message: 'too many messages' });
  await started.scheduler.caughtUp();
  say(started, 'a', 'b');
  expect(await after(started, 499)).toEqual(['1a']);
  expect(await after(started, 1)).toEqual(['1a', '2b']);
});

it("resending stays below the scheduler's default rate", async () => {
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
  expect(scheduler.chunksHere()).toHaveLength(260);
  clock.advance(1_000);
  await started.reconnect();
  expect(scheduler.chunksHere()).toHaveLength(100);
  clock.advance(500);
  await scheduler.caughtUp();
  expect(scheduler.chunksHere()).toHaveLength(150);
  clock.advance(2_000);
  await scheduler.caughtUp();
  expect(scheduler.chunksHere()).toHaveLength(260);
  expect(session.unsettledBytes).toBe(260);
});

it('sending waits while the socket is full', async () => {
  const started = await startSession({ limits: { maxSocketBytes: 1_000_000 } });
  const { session, scheduler, clock } = started;
  scheduler.freeze();
  const piece = new Uint8Array(200_000);
  for (let index = 0; index < 40; index += 1) session.sendAudio(piece);
  // The kernel takes some frames, the socket one more above its limit; the rest stays in the outbox.
  expect(clock.waiting()).toContain(50);
  expect(session.unsettledBytes).toBe(8_000_000);
});
