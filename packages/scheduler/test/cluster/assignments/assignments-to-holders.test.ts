/** Assignments to nodes whose sockets other instances hold: what the driver sends, what the holder does and reports. */
import { describe, expect, it } from 'vitest';
import { nodeRecordFor } from '../../contracts/node-record-fixtures.ts';
import { COMES_AGAIN_MS, POST_MS, startMessaging } from '../messaging/message-bus-rig.ts';
import { createSharedJobs } from '../takeover/shared-jobs-rig.ts';
import { ANSWER_MS, HOUR_MS, startDriverAndHolder, withNodes } from './assignments-rig.ts';

/** An assignment in the inbox of a holder that does not read. */
async function unreadAssignment() {
  const messaging = startMessaging();
  const jobs = createSharedJobs(messaging.clock);
  const a = await messaging.join('a');
  const b = await messaging.join('b', { isReading: false });
  const driver = withNodes(messaging, a);
  const holder = withNodes(messaging, b);
  holder.sockets.set('node-b', 1);
  driver.records.set('node-b', nodeRecordFor({ nodeId: 'node-b', holder: b.self }));
  const job = await jobs.add(a.driver, { state: 'RESERVED', intent: { nodeId: 'node-b', attempt: 1 } });
  const expiresAt = messaging.clock.now() + ANSWER_MS;
  await driver.link.deliver({ nodeId: 'node-b', attempt: 1, job, expiresAt });
  const unread = async () =>
    (await messaging.inbox.take('b', { max: 10, waitMs: 0 })).map(({ body }) => body);
  return { messaging, b, driver, holder, job, unread };
}

describe('a node of this instance', () => {
  it('is reached without a message, on a socket or another channel', async () => {
    const { driver, sent, b, deliver } = await startDriverAndHolder();
    driver.sockets.set('node-a', 1).set('node-c', 1);
    driver.records.set('node-c', nodeRecordFor({ nodeId: 'node-c', holder: b.self, channel: 'endpoint' }));
    expect(await deliver({ nodeId: 'node-a' })).toEqual({ kind: 'written' });
    expect(await deliver({ nodeId: 'node-c' })).toEqual({ kind: 'written' });
    driver.link.cancel('node-a', 'job-1', 'cancelled');
    expect(driver.cancelled).toEqual(['node-a job-1 cancelled']);
    expect(sent).toEqual([]);
  });
});

describe('the driver of a job for a node of another instance', () => {
  it('sends one message and waits for no reply', async () => {
    const { driver, deliver, sent } = await startDriverAndHolder();
    expect(await deliver()).toEqual({ kind: 'sent' });
    expect(driver.delivered).toEqual([]);
    expect(sent.map(({ to }) => to)).toEqual(['b']);
  });

  it('does not send the need of the job', async () => {
    const { deliver, sent } = await startDriverAndHolder();
    await deliver();
    expect(sent[0]?.text).not.toContain('"need"');
  });

  it('sends where the audio is instead of the audio', async () => {
    const { driver, holder, job, deliver, sent } = await startDriverAndHolder();
    const at = { url: 'http://a:5010/v1/audio/1', token: 'one-job', bytes: 32_000 };
    driver.audio.set(job.jobId, at);
    await deliver({ job: { ...job, spec: { ...job.spec, audio: { kind: 'held', bytes: 32_000 } } } });
    expect(holder.delivered[0]?.audioAt).toEqual(at);
    expect(sent[0]?.text.length).toBeLessThan(2_000);
  });

  it('sends where a third instance holds the audio', async () => {
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

  it('sends nothing to a dead holder, so the job is undeliverable', async () => {
    const { b, deliver, sent } = await startDriverAndHolder();
    await b.die();
    expect(await deliver()).toEqual({ kind: 'undeliverable', reason: 'holder_gone' });
    expect(sent).toEqual([]);
  });

  it.each(['throw', 'throw_after_effect'] as const)(
    'does not know whether the assignment was sent if Redis fails (%s)',
    async (fault) => {
      const { a, deliver } = await startDriverAndHolder();
      a.connection.plan({ method: 'send', fault });
      expect(await deliver()).toEqual({ kind: 'unknown', reason: 'holder_unreached' });
    },
  );

  it('sends a cancel through the holder, as far as it can be reached', async () => {
    const { a, b, driver, holder, settle } = await startDriverAndHolder();
    driver.link.cancel('node-b', 'job-1', 'deadline');
    await settle();
    expect(holder.cancelled).toEqual(['node-b job-1 deadline']);
    expect(driver.cancelled).toEqual([]);
    a.connection.plan({ method: 'send', fault: 'throw' });
    driver.link.cancel('node-b', 'job-2', 'deadline');
    await settle();
    a.connection.heal();
    await b.die();
    driver.link.cancel('node-b', 'job-3', 'deadline');
    await settle();
    expect(holder.cancelled).toHaveLength(1);
  });

  it('sends a cancel that the node receives after its assignment', async () => {
    const { driver, holder, job, assignment, settle } = await startDriverAndHolder();
    const events: string[] = [];
    holder.state.whileDelivering = async () => void events.push(`cancels ${holder.cancelled.length}`);
    void driver.link.deliver(assignment);
    driver.link.cancel('node-b', job.jobId, 'superseded');
    await settle();
    expect(events).toEqual(['cancels 0']);
    expect(holder.cancelled).toEqual([`node-b ${job.jobId} superseded`]);
  });
});

describe('the holder of a node', () => {
  it('hands the job over and leaves the record to the driver', async () => {
    const { holder, jobs, job, deliver } = await startDriverAndHolder();
    await deliver();
    expect(holder.delivered).toHaveLength(1);
    expect(await jobs.record(job.jobId)).toEqual(job);
  });

  it('reports `dispatched` with the connection of a legacy node', async () => {
    const { holder, job, deliver } = await startDriverAndHolder();
    await deliver();
    const attempt = { nodeId: 'node-b', jobId: job.jobId, attempt: 1 };
    expect(holder.reported).toEqual([{ kind: 'dispatched', attempt, handOver: { generation: 7 } }]);
  });

  it('reports nothing if the node itself acknowledges', async () => {
    const { holder, deliver } = await startDriverAndHolder();
    holder.acknowledging.add('node-b');
    await deliver();
    expect([holder.delivered.length, holder.reported]).toEqual([1, []]);
  });

  it('reports `undeliverable` if the node has no socket any more', async () => {
    const { holder, job, deliver } = await startDriverAndHolder();
    holder.acknowledging.add('node-b');
    holder.sockets.clear();
    expect(await deliver()).toEqual({ kind: 'sent' });
    const attempt = { nodeId: 'node-b', jobId: job.jobId, attempt: 1 };
    expect(holder.reported).toEqual([{ kind: 'undeliverable', attempt, reason: 'no_connection' }]);
  });

  it('reports nothing if it does not know whether the node has the job', async () => {
    const { holder, deliver } = await startDriverAndHolder();
    holder.state.delivery = { kind: 'unknown', reason: 'timeout' };
    await deliver();
    expect(holder.reported).toEqual([]);
  });

  it('has the driver in its cache before the node can report', async () => {
    const { a, driver, holder, job, deliver } = await startDriverAndHolder();
    let cached: string | undefined;
    holder.state.whileDelivering = async () => {
      cached = holder.driverCache.find(job.jobId);
    };
    await deliver();
    expect(cached).toBe(a.driver);
    expect(driver.driverCache.find(job.jobId)).toBeUndefined();
  });

  it.each([
    ['the same clock', 0, 0],
    ['a driver an hour ahead', HOUR_MS, 0],
    ['a holder an hour ahead', 0, HOUR_MS],
    ['both off by an hour, apart by two', -HOUR_MS, HOUR_MS],
  ])('hands a job over before its expiry and not after, with %s', async (_, driverAheadMs, holderAheadMs) => {
    const { deliver, driver, holder } = await startDriverAndHolder({ driverAheadMs, holderAheadMs });
    await deliver({ expiresAt: driver.now() - 1 });
    expect(holder.reported).toMatchObject([{ kind: 'undeliverable', reason: 'expired' }]);
    expect(holder.delivered).toEqual([]);
    await deliver({ expiresAt: driver.now() + 100 });
    expect(holder.delivered[0]?.expiresAt).toBe(holder.now() + 100 - POST_MS);
  });

  it('hands over no assignment that lay in the inbox for too long', async () => {
    const { messaging, b, holder, unread } = await unreadAssignment();
    await messaging.clock.advance(ANSWER_MS);
    for (const body of await unread()) await b.bus.receive(body);
    expect(holder.delivered).toEqual([]);
    expect(holder.reported).toMatchObject([{ kind: 'undeliverable', reason: 'expired' }]);
  });

  it('I4 fencing: hands an assignment that was read before over to no node', async () => {
    const { b, holder, unread } = await unreadAssignment();
    for (const body of await unread()) await b.bus.receive(body, true);
    expect([holder.delivered, holder.reported]).toEqual([[], []]);
  });

  it('I4 fencing: does not hand a job over again after its link failed', async () => {
    const { holder, deliver, clock } = await startDriverAndHolder();
    holder.state.whileDelivering = async () => {
      throw new Error('the audio could not be fetched');
    };
    await deliver();
    await clock.advance(2 * COMES_AGAIN_MS);
    expect(holder.delivered).toHaveLength(1);
    expect(holder.reported).toEqual([]);
  });

  it('is replaced after its death by an instance that reports `undeliverable`', async () => {
    const { messaging, driver, unread } = await unreadAssignment();
    const c = await messaging.join('c');
    const successor = withNodes(messaging, c);
    for (const body of await unread()) await c.bus.receive(body);
    expect(successor.reported).toMatchObject([{ kind: 'undeliverable', reason: 'no_connection' }]);
    expect(driver.reported).toEqual([]);
  });
});
