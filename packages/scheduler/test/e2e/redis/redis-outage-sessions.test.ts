/** I7 for sessions: utterances during an outage of Redis wait, are refused if it takes long, and sockets stay open. */
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { RedisServer } from '../../support/redis-servers.ts';
import { type Instance, NOTICES_OUTAGES, startInstances } from '../multi-instance/start-instances.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { openSession, sessionUrl, spoken } from '../support/session-client.ts';

/** Longer than the command timeout, so that some commands have failed. */
const OUTAGE_MS = 2_500;
/** So much longer that a short outage ends in time on a busy machine. */
const PENDING_MS = 15_000;
const SHORT_PENDING_MS = 4_000;

/** A session with one result, whose Redis is frozen then. */
async function speakDuringOutage(pendingMs: number) {
  const { redis, instances } = await startInstances(1, {
    ...NOTICES_OUTAGES,
    'scheduler.pending_timeout_ms': pendingMs,
  });
  const [a] = instances as [Instance];
  const server = redis.servers[0] as RedisServer;
  await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
  await a.readyNodes(1);
  const session = await openSession({ url: sessionUrl(a) });
  session.send(spoken(session, 1));
  expect(await session.outcome(1)).toMatchObject({ type: 'translation_result' });
  server.signal('SIGSTOP');
  onTestFinished(() => void server.signal('SIGCONT'));
  const begunAt = performance.now();
  session.send(spoken(session, 2));
  return { session, server, begunAt };
}

it('an utterance during a short outage waits and gets its result', async () => {
  const { session, server, begunAt } = await speakDuringOutage(PENDING_MS);
  await eventually(() => performance.now() > begunAt + OUTAGE_MS);
  server.signal('SIGCONT');
  await eventually(() => session.outcomes().length === 2);
  expect(session.outcomes()[1]).toMatchObject({ type: 'translation_result', utterance_index: 1 });
  expect(session.of('error')).toEqual([]);
  expect(session.ws.readyState).toBe(session.ws.OPEN);
});

it('an utterance during a long outage is refused; the next one succeeds', async () => {
  const { session, server, begunAt } = await speakDuringOutage(SHORT_PENDING_MS);
  const [error] = await eventually(() => {
    const errors = session.of('error');
    return errors.length > 0 ? errors : undefined;
  });
  expect(performance.now() - begunAt).toBeGreaterThan(SHORT_PENDING_MS - 100);
  expect(error).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN', details: { utterance_index: 1 } });
  expect(session.ws.readyState).toBe(session.ws.OPEN);
  server.signal('SIGCONT');
  await eventually(() => session.outcomes().length === 2);
  expect(session.outcomes()[1]).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
  session.send(spoken(session, 3));
  await eventually(() => session.outcomes().length === 3);
  expect(session.outcomes()[2]).toMatchObject({ type: 'translation_result', utterance_index: 2 });
  expect([session.of('error').length, session.ws.readyState]).toEqual([1, session.ws.OPEN]);
});
