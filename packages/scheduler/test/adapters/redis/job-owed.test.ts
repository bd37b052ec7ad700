/** Moves that may be written a moment later: known here at once, one write with what follows, and never against what others did. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisConnection } from '../../../src/adapters/redis/connection/redis-connection.ts';
import type { BookedJobStore } from '../../../src/adapters/redis/job-store.ts';
import { jobTag } from '../../../src/adapters/shared-jobs/job-tag.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import { perTest } from '../../contracts/harness.ts';
import { changeTo, draftRequest, expectedOf, RESULT } from '../../contracts/job-draft.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../support/redis-jobs.ts';
import { SHORT_TIMEOUTS, startRedis } from '../../support/redis-servers.ts';

const FENCE = { nodeId: 'node-a', attempt: 1 };
const DISPATCHED = changeTo('DISPATCHED', { fence: FENCE, intent: null });
const states = (job: JobRecord | undefined) => job?.timeline.map(({ state }) => state);

describe('a move that may be written a moment later', () => {
  let redis: Connected;
  beforeAll(async () => {
    redis = await connectTo(startRedis(), SHORT_TIMEOUTS);
  });
  afterAll(() => redis.close());

  const start = perTest(async () => {
    const keys = freshKeys();
    const [one, two] = [openInstance(redis, keys, 'a'), openInstance(redis.other, keys, 'b')];
    const draft = draftRequest(Date.now(), { state: 'RESERVED', intent: FENCE });
    await one.store.admit(draft);
    /** As it is in Redis, with no instance's knowledge. */
    const stored = async (): Promise<string> =>
      (await redis.other.connection.hget(keyOf(draft), 'state')) ?? '';
    const keyOf = ({ jobId }: JobRecord): string => keys.job(jobTag(jobId));
    const admitted = await redis.other.connection.hgetall(keyOf(draft));
    /** As a failover does that has heard only of the job's admission. */
    const setBack = async (): Promise<void> => {
      await redis.other.connection.del(keyOf(draft));
      await redis.other.connection.hset(keyOf(draft), admitted);
    };
    const lose = () => redis.other.connection.del(keyOf(draft));
    return {
      one,
      lose,
      setBack,
      a: one.store,
      b: two.store,
      two,
      draft,
      stored,
      close: async () => void (await Promise.all([one.close(), two.close()])),
    };
  });

  it('is answered at once, seen here at once, and in Redis by itself', async () => {
    const { a, b, draft, stored } = await start();
    const moved = a.move(draft.jobId, expectedOf(draft), DISPATCHED, 'soon');
    expect(moved).toMatchObject({ kind: 'moved', job: { state: 'DISPATCHED', fence: FENCE } });
    for (const seen of [
      await a.get(draft.jobId),
      await a.bound(draft.tenantId, draft.requestId as string),
      (await a.list({ limit: 5 })).jobs[0],
      ((await a.admit(draft)) as { job: JobRecord }).job,
    ])
      expect(seen).toMatchObject({ state: 'DISPATCHED' });
    await expect.poll(stored).toBe('DISPATCHED');
    expect(await b.get(draft.jobId)).toEqual(await a.get(draft.jobId));
  });

  it('goes along with the next move, and so do several, as one write with all they passed through', async () => {
    const { a, b, draft, stored } = await start();
    const dispatched = await a.move(draft.jobId, expectedOf(draft), DISPATCHED, 'soon');
    if (dispatched.kind !== 'moved') throw new Error(dispatched.kind);
    const running = await a.move(draft.jobId, expectedOf(dispatched.job), changeTo('RUNNING'), 'soon');
    if (running.kind !== 'moved') throw new Error(running.kind);
    expect(await stored()).toBe('RESERVED');
    const passing = [changeTo('FINISHED').entry];
    const change = changeTo('RELEASED', { result: RESULT, passing });
    const released = await a.move(draft.jobId, expectedOf(running.job), change);
    expect(released).toMatchObject({
      kind: 'moved',
      job: { state: 'RELEASED', result: RESULT, fence: FENCE },
    });
    const seen = await b.get(draft.jobId);
    expect(seen).toEqual(released.kind === 'moved' && released.job);
    expect(states(seen)).toEqual([...(states(draft) ?? []), 'DISPATCHED', 'RUNNING', 'FINISHED', 'RELEASED']);
  });

  it('is asked now if the job is not as expected, or not known here', async () => {
    const { a, b, draft } = await start();
    const elsewhere = { state: 'RUNNING', fenceAttempt: 1 } as const;
    expect(await a.move(draft.jobId, elsewhere, changeTo('FINISHED'), 'soon')).toMatchObject({
      kind: 'stale',
    });
    expect(await b.move(draft.jobId, expectedOf(draft), DISPATCHED, 'soon')).toEqual({
      kind: 'driven_elsewhere',
    });
  });

  it.each([
    ['written by itself', false],
    ['written with the next move', true],
  ])('goes on from what the holder of the socket has written meanwhile, %s', async (_, isNext) => {
    const { a, b, draft, stored } = await start();
    // Its own entry, with its own time: the acknowledgement was quicker than its reply.
    await b.moveFor(
      'a/1',
      draft.jobId,
      expectedOf(draft),
      changeTo('DISPATCHED', { fence: FENCE, intent: null }),
    );
    const dispatched = await a.move(draft.jobId, expectedOf(draft), DISPATCHED, 'soon');
    if (dispatched.kind !== 'moved') throw new Error(dispatched.kind);
    const running = await a.move(draft.jobId, expectedOf(dispatched.job), changeTo('RUNNING'), 'soon');
    if (running.kind !== 'moved') throw new Error(running.kind);
    if (!isNext) await expect.poll(stored).toBe('RUNNING');
    const change = changeTo('FINISHED', { result: RESULT });
    const finished = await a.move(draft.jobId, expectedOf(running.job), change);
    expect(finished).toMatchObject({
      kind: 'moved',
      job: { state: 'FINISHED', result: RESULT, fence: FENCE },
    });
    const seen = await b.get(draft.jobId);
    expect(seen).toEqual(finished.kind === 'moved' && finished.job);
    expect(states(seen)).toEqual([...(states(draft) ?? []), 'DISPATCHED', 'RUNNING', 'FINISHED']);
  });

  it('I4 changes nothing if another drives the job by then, and the next move is told', async () => {
    const { a, b, draft, stored } = await start();
    const dispatched = await a.move(draft.jobId, expectedOf(draft), DISPATCHED, 'soon');
    if (dispatched.kind !== 'moved') throw new Error(dispatched.kind);
    await redis.connection.ping();
    expect((await b.takeOver(draft, { instanceId: 'a' })).kind).toBe('taken');
    await a.close();
    expect(await stored()).toMatch(/RESERVED|DISPATCHED/);
    const before = await stored();
    const next = await a.move(draft.jobId, expectedOf(dispatched.job), changeTo('RUNNING'));
    expect(next).toEqual({ kind: 'driven_elsewhere' });
    expect(await stored()).toBe(before);
  });

  it.each([
    [
      'the next move',
      (a: BookedJobStore, job: JobRecord) => a.move(job.jobId, expectedOf(job), changeTo('RUNNING')),
    ],
    ['telling it again', (a: BookedJobStore, job: JobRecord) => a.restore(job)],
  ])(
    'is written when Redis answers again, though %s failed without being sent, and nothing of it twice',
    async (_, ask) => {
      const { a, b, draft, stored } = await start();
      const [server] = redis.servers.servers;
      server?.signal('SIGSTOP');
      // From here on nothing is sent that a server which goes on could still read.
      await expect(a.get(draft.jobId)).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
      const dispatched = await a.move(draft.jobId, expectedOf(draft), DISPATCHED, 'soon');
      if (dispatched.kind !== 'moved') throw new Error(dispatched.kind);
      const failed = await Promise.resolve(ask(a, dispatched.job)).catch((fault: unknown) => fault);
      server?.signal('SIGCONT');
      expect(failed).toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN', isUnsent: true });
      await expect.poll(stored).toBe('DISPATCHED');
      const answers = ({ connection }: { connection: RedisConnection }) =>
        connection.get('x').then(
          () => true,
          () => false,
        );
      for (const each of [redis, redis.other]) await expect.poll(() => answers(each)).toBe(true);
      const seen = states(await b.get(draft.jobId)) ?? [];
      expect(new Set(seen).size).toBe(seen.length);
    },
  );

  it('is not forgotten when its job is told again as it was before', async () => {
    const { a, b, draft, stored } = await start();
    const dispatched = await a.move(draft.jobId, expectedOf(draft), DISPATCHED);
    if (dispatched.kind !== 'moved') throw new Error(dispatched.kind);
    const running = await a.move(draft.jobId, expectedOf(dispatched.job), changeTo('RUNNING'), 'soon');
    await a.restore(dispatched.job);
    await expect.poll(stored).toBe('RUNNING');
    expect(await b.get(draft.jobId)).toEqual(running.kind === 'moved' && running.job);
  });

  it('comes with its job when that is told again as it was before, and was set back further', async () => {
    const { a, draft, setBack, stored } = await start();
    const dispatched = await a.move(draft.jobId, expectedOf(draft), DISPATCHED);
    if (dispatched.kind !== 'moved') throw new Error(dispatched.kind);
    await a.move(draft.jobId, expectedOf(dispatched.job), changeTo('RUNNING'), 'soon');
    await setBack();
    // What is owed cannot go on from there.
    await a.close();
    expect(await stored()).toBe('RESERVED');
    await a.restore(dispatched.job);
    expect(await stored()).toBe('RUNNING');
  });

  it('is known here though the record before it is being written anew meanwhile', async () => {
    const { a, draft, lose, stored } = await start();
    const dispatched = await a.move(draft.jobId, expectedOf(draft), DISPATCHED);
    if (dispatched.kind !== 'moved') throw new Error(dispatched.kind);
    await lose();
    const restoring = a.restore(dispatched.job);
    await a.move(draft.jobId, expectedOf(dispatched.job), changeTo('RUNNING'), 'soon');
    expect(await restoring).toBe('restored');
    expect((await a.get(draft.jobId))?.state).toBe('RUNNING');
    await expect.poll(stored).toBe('RUNNING');
  });

  it('is told to whoever waits elsewhere when it is written', async () => {
    const { one, two, a, draft } = await start();
    const heard: string[] = [];
    two.events.subscribe(draft.jobId, ({ state }) => heard.push(state));
    await expect.poll(() => heard).toEqual(['RESERVED']);
    const moved = await a.move(draft.jobId, expectedOf(draft), DISPATCHED, 'soon');
    if (moved.kind === 'moved') one.events.publish(moved.job);
    // Long before somebody who waits looks for himself.
    await expect.poll(() => heard).toEqual(['RESERVED', 'DISPATCHED']);
  });

  it('is not lost with a discard: what was sent is kept', async () => {
    const { a, draft } = await start();
    await a.move(draft.jobId, expectedOf(draft), DISPATCHED, 'soon');
    expect(await a.discard(draft.jobId)).toBe('kept');
  });
});
