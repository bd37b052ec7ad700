/** Assignments to nodes whose sockets other instances hold: what the driver learns, what the holder does for it. */
import { describe, expect, it } from 'vitest';
import { isPending } from '../contracts/harness.ts';
import { sheetFor } from '../contracts/node-sheets.ts';
import { createSharedJobs } from './jobs-rig.ts';
import { POST_MS, startPost } from './post-rig.ts';
import { ANSWER_MS, HOUR_MS, startDriverAndHolder, withNodes } from './remote-nodes-rig.ts';

/** An assignment that lies in the inbox of a holder who does not read. */
async function letterUnread() {
  const post = startPost();
  const jobs = createSharedJobs(post.clock);
  const a = await post.join('a');
  const b = await post.join('b', { isReading: false });
  const driver = withNodes(post, a);
  const holder = withNodes(post, b);
  holder.sockets.set('node-b', 1);
  driver.records.set('node-b', sheetFor({ nodeId: 'node-b', holder: b.self }));
  const job = await jobs.add(a.driver, { state: 'RESERVED', intent: { nodeId: 'node-b', attempt: 1 } });
  const expiresAt = post.clock.now() + ANSWER_MS;
  const delivery = driver.link.deliver({ nodeId: 'node-b', attempt: 1, job, expiresAt });
  return { post, jobs, a, b, holder, job, delivery };
}

describe('a node of this instance', () => {
  it('is reached without a message, and so is one that no socket leads to', async () => {
    const { driver, sent, b, deliver } = await startDriverAndHolder();
    driver.sockets.set('node-a', 1).set('node-c', 1);
    driver.records.set('node-c', sheetFor({ nodeId: 'node-c', holder: b.self, channel: 'endpoint' }));
    expect(await deliver({ nodeId: 'node-a' })).toEqual({ kind: 'written' });
    expect(await deliver({ nodeId: 'node-c' })).toEqual({ kind: 'written' });
    driver.link.cancel('node-a', 'job-1', 'cancelled');
    expect(driver.cancelled).toEqual(['node-a job-1 cancelled']);
    expect(sent).toEqual([]);
  });
});

describe('a node that another instance holds', () => {
  it('gets the job from its holder, which leaves the record to the driver', async () => {
    const { driver, holder, jobs, job, deliver } = await startDriverAndHolder();
    expect(await deliver()).toEqual({ kind: 'written', generation: 7 });
    expect(driver.delivered).toEqual([]);
    expect(holder.delivered).toHaveLength(1);
    expect(await jobs.record(job.jobId)).toEqual(job);
  });

  it('has its driver in the cache of the holder, and the need is not sent', async () => {
    const { a, driver, holder, job, deliver, sent } = await startDriverAndHolder();
    await deliver();
    expect(holder.driverCache.find(job.jobId)).toBe(a.driver);
    expect(driver.driverCache.find(job.jobId)).toBeUndefined();
    expect(sent[0]?.text).not.toContain('"need"');
  });

  it('learns where the audio is, and gets none of it in a message', async () => {
    const { driver, holder, job, deliver, sent } = await startDriverAndHolder();
    const at = { url: 'http://a:5010/v1/audio/1', token: 'one-job', bytes: 32_000 };
    driver.audio.set(job.jobId, at);
    await deliver({ job: { ...job, spec: { ...job.spec, audio: { kind: 'held', bytes: 32_000 } } } });
    expect(holder.delivered[0]?.audioAt).toEqual(at);
    expect(sent[0]?.text.length).toBeLessThan(2_000);
  });

  it('learns where the audio is from the job itself, if a third instance holds it', async () => {
    const { driver, holder, job, deliver } = await startDriverAndHolder();
    const [here, there] = ['http://a:5010/1', 'http://c:5010/1'].map((url) => ({
      url,
      token: 't',
      bytes: 1,
    }));
    if (here !== undefined) driver.audio.set(job.jobId, here);
    await deliver({ audioAt: there });
    expect(holder.delivered[0]?.audioAt).toEqual(there);
  });

  it('does not get the job if it has no socket there any more', async () => {
    const { holder, jobs, job, deliver } = await startDriverAndHolder();
    holder.sockets.clear();
    expect(await deliver()).toEqual({ kind: 'undeliverable', reason: 'no_connection' });
    expect((await jobs.record(job.jobId)).state).toBe('RESERVED');
    expect(holder.driverCache.find(job.jobId)).toBeUndefined();
  });

  it.each([
    ['the same clock', 0, 0],
    ['a driver an hour ahead', HOUR_MS, 0],
    ['a holder an hour ahead', 0, HOUR_MS],
    ['both off by an hour, apart by two', -HOUR_MS, HOUR_MS],
  ])('gets the job before its expiry and not after, with %s', async (_, driverAheadMs, holderAheadMs) => {
    const { deliver, driver, holder, jobs, job } = await startDriverAndHolder({
      driverAheadMs,
      holderAheadMs,
    });
    const late = await deliver({ expiresAt: driver.now() - 1 });
    expect(late).toEqual({ kind: 'undeliverable', reason: 'expired' });
    expect(holder.delivered).toEqual([]);
    expect((await jobs.record(job.jobId)).state).toBe('RESERVED');
    expect(await deliver({ expiresAt: driver.now() + 100 })).toMatchObject({ kind: 'written' });
    expect(holder.delivered[0]?.expiresAt).toBe(holder.now() + 100 - POST_MS);
  });

  it('does not get an assignment that lay in the inbox for too long', async () => {
    const { post, jobs, b, holder, job, delivery } = await letterUnread();
    await post.clock.advance(ANSWER_MS);
    expect(await delivery).toEqual({ kind: 'unknown', reason: 'holder_silent' });
    for (const { body } of await post.inbox.take('b', { max: 10, waitMs: 0 })) await b.bus.receive(body);
    expect(holder.delivered).toEqual([]);
    expect((await jobs.record(job.jobId)).state).toBe('RESERVED');
  });

  it.each([
    [true, { kind: 'unknown', reason: 'opened_before' }],
    [false, { kind: 'undeliverable' }],
  ])('may have the job if its holder died over the assignment (%s)', async (wasOpened, expected) => {
    const { post, a, delivery } = await letterUnread();
    await post.settle();
    // Whoever adopts what the holder left reads it: here the driver itself.
    for (const { body } of await post.inbox.take('b', { max: 10, waitMs: 0 })) {
      void a.bus.receive(body, wasOpened);
    }
    await post.settle();
    expect(await delivery).toMatchObject(expected);
  });

  it('is unreachable when its holder is dead, and then nothing was sent', async () => {
    const { b, deliver, sent } = await startDriverAndHolder();
    await b.die();
    expect(await deliver()).toEqual({ kind: 'undeliverable', reason: 'holder_gone' });
    expect(sent).toEqual([]);
  });

  it('may have the job if its holder is silent, and no one waits longer than the limit', async () => {
    const { driver, holder, assignment, clock } = await startDriverAndHolder();
    holder.state.whileDelivering = () => new Promise(() => {});
    const delivery = Promise.resolve(driver.link.deliver(assignment));
    await clock.advance(ANSWER_MS - 1);
    expect(await isPending(delivery)).toBe(true);
    await clock.advance(1);
    expect(await delivery).toEqual({ kind: 'unknown', reason: 'holder_silent' });
  });

  it('may have the job if its holder failed on the way to it', async () => {
    const { holder, deliver, jobs, job } = await startDriverAndHolder();
    holder.state.whileDelivering = async () => {
      throw new Error('the audio could not be fetched');
    };
    expect(await deliver()).toEqual({ kind: 'unknown', reason: 'holder_silent' });
    expect((await jobs.record(job.jobId)).state).toBe('RESERVED');
  });

  it.each(['throw', 'throw_after_effect'] as const)(
    'may have the job if the message may have been sent (%s)',
    async (fault) => {
      const { a, deliver } = await startDriverAndHolder();
      a.way.plan({ method: 'send', fault });
      expect(await deliver()).toEqual({ kind: 'unknown', reason: 'holder_silent' });
    },
  );

  it('is told to stop by its holder, as far as that one can be reached', async () => {
    const { a, b, driver, holder, settle } = await startDriverAndHolder();
    driver.link.cancel('node-b', 'job-1', 'deadline');
    await settle();
    expect(holder.cancelled).toEqual(['node-b job-1 deadline']);
    expect(driver.cancelled).toEqual([]);
    a.way.plan({ method: 'send', fault: 'throw' });
    driver.link.cancel('node-b', 'job-2', 'deadline');
    await settle();
    a.way.heal();
    await b.die();
    driver.link.cancel('node-b', 'job-3', 'deadline');
    await settle();
    expect(holder.cancelled).toHaveLength(1);
  });

  it('receives a cancel after its assignment when the reply is lost', async () => {
    const { b, driver, holder, job, assignment, clock } = await startDriverAndHolder();
    b.way.plan({ method: 'send', fault: 'throw' });
    const delivery = driver.link.deliver(assignment);
    await clock.advance(ANSWER_MS);
    expect(await delivery).toEqual({ kind: 'unknown', reason: 'holder_silent' });
    // The driver decides whether to cancel: there may be no other node.
    expect(holder.cancelled).toEqual([]);
    driver.link.cancel('node-b', job.jobId, 'superseded');
    await clock.advance(2);
    expect(holder.delivered).toHaveLength(1);
    expect(holder.cancelled).toEqual([`node-b ${job.jobId} superseded`]);
  });
});
