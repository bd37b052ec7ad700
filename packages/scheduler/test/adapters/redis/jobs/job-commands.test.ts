/** Commands per job in Redis, counted by the server. */
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Keys } from '../../../../src/adapters/redis/keys.ts';
import type { JobRecord, JobState } from '../../../../src/domain/job.ts';
import type { JobChange } from '../../../../src/ports/job-store.ts';
import { fresh, times } from '../../../contracts/harness.ts';
import { changeTo, draftJob, draftRequest, expectedOf, RESULT } from '../../../contracts/job-draft.ts';
import { type Connected, connectTo, freshKeys, openInstance } from '../../../support/redis-jobs.ts';
import { startRedis } from '../../../support/redis-servers.ts';

const FENCE = { nodeId: 'node-a', attempt: 1 };
type Opened = ReturnType<typeof openInstance>;

/** A first-try success, as the engine writes it. `isAcknowledged`: the node acknowledges before its result. */
async function live({ store, events }: Opened, isAcknowledged = true): Promise<void> {
  const at = Date.now();
  let job: JobRecord = draftRequest(at, {
    state: 'RESERVED',
    intent: FENCE,
    timeline: [
      { state: 'CREATED', at, attempt: 0 },
      { state: 'RESERVED', at, attempt: 1, nodeId: 'node-a' },
    ],
  });
  await store.admit(job);
  const sent = { fence: FENCE, intent: null };
  const entries = (...states: JobState[]) => states.map((state) => changeTo(state).entry);
  const steps: [JobState, Partial<JobChange>][] = isAcknowledged
    ? [
        ['RUNNING', { ...sent, passing: entries('DISPATCHED') }],
        ['RELEASED', { result: RESULT, passing: entries('FINISHED') }],
      ]
    : [['RELEASED', { ...sent, result: RESULT, passing: entries('DISPATCHED', 'RUNNING', 'FINISHED') }]];
  for (const [state, parts] of steps) {
    const moved = await store.move(job.jobId, expectedOf(job), changeTo(state, parts));
    if (moved.kind !== 'moved') throw new Error(moved.kind);
    job = moved.job;
    events.publish(job);
  }
}

describe('the cost of a job', () => {
  let redis: Connected;
  let watcher: Redis;
  let instance: Opened;
  let keys: Keys;
  const seen: string[] = [];

  beforeAll(async () => {
    redis = await connectTo(startRedis());
    const plain = new Redis(redis.servers.settings.url);
    watcher = await plain.monitor();
    plain.disconnect();
    watcher.on('monitor', (_time, args: string[], source: string) => {
      if (source !== 'lua') seen.push(String(args[0]).toLowerCase());
    });
  });
  afterEach(() => instance.close());
  afterAll(async () => {
    watcher.disconnect();
    await redis.close();
  });

  /** Waits until MONITOR has shown everything that was sent before. */
  async function caughtUp(): Promise<void> {
    const echoes = () => seen.filter((command) => command === 'echo').length;
    const before = echoes();
    await redis.connection.echo('caught up');
    await vi.waitFor(() => expect(echoes()).toBeGreaterThan(before), { timeout: 60_000 });
  }

  /** All commands of `act`, with the later index writes. The scripts are loaded already. */
  async function commandsOf(act: () => Promise<unknown>): Promise<string[]> {
    keys = freshKeys();
    instance = openInstance(redis, keys, 'instance-a');
    await live(instance);
    await instance.store.close();
    await caughtUp();
    seen.length = 0;
    await act();
    await instance.store.close();
    await caughtUp();
    return seen.filter((command) => command !== 'echo');
  }

  it('is five scripts: begin index, admit, acknowledgement, result, end index', async () => {
    const commands = await commandsOf(() => live(instance));
    expect(commands).toEqual(times(5, () => 'evalsha'));
  });

  it('is four scripts when its result is the first report', async () => {
    const commands = await commandsOf(() => live(instance, false));
    expect(commands).toEqual(times(4, () => 'evalsha'));
  });

  it('indexes the end of a job with the beginning of the next', async () => {
    const commands = await commandsOf(async () => {
      for (let count = 0; count < 50; count += 1) await live(instance);
    });
    console.info(`a job of many in turn: ${commands.length / 50} commands`);
    // An end is indexed by itself when the next job begins late.
    expect(commands.length).toBeLessThan(50 * 5);
    expect(new Set(commands)).toEqual(new Set(['evalsha']));
  });

  it('indexes jobs together that begin in one turn of the event loop', async () => {
    const commands = await commandsOf(() =>
      Promise.all(
        times(64, async () => {
          for (let count = 0; count < 10; count += 1) await live(instance);
        }),
      ),
    );
    console.info(`a job of 64 at once: ${commands.length / 640} commands`);
    expect(commands.length / 640).toBeLessThan(3.5);
    expect(new Set(commands)).toEqual(new Set(['evalsha']));
  });

  it('is three plain commands to find its driver and take it over', async () => {
    const draft = draftJob(Date.now());
    const commands = await commandsOf(async () => {
      const other = openInstance(redis.other, keys, 'instance-b');
      await instance.store.admit(draft);
      for (const jobId of [draft.jobId, fresh('job')]) await other.store.driverOf(jobId);
      await other.store.takeOver(draft, { instanceId: 'instance-a' });
      await other.close();
    });
    expect(commands.filter((command) => !command.startsWith('eval'))).toEqual(['hmget', 'hmget', 'zrem']);
  });

  it('is one notice per move, only while another instance waits for it', async () => {
    const commands = await commandsOf(async () => {
      const waiting = openInstance(redis.other, keys, 'instance-b');
      for (const isAwaited of [true, false]) {
        const draft = draftRequest(Date.now());
        await instance.store.admit(draft);
        if (isAwaited) await waiting.store.watch(draft.jobId, -1);
        const moved = await instance.store.move(draft.jobId, expectedOf(draft), changeTo('FAILED'));
        if (moved.kind === 'moved') instance.events.publish(moved.job);
      }
      await waiting.close();
    });
    const notices = commands.filter((command) => !command.startsWith('eval'));
    // Sharded if the server supports it.
    expect(notices.map((command) => command.replace(/^s/, ''))).toEqual(['publish']);
  });

  it('answers a move of a known record without sending the record back', async () => {
    instance = openInstance(redis, freshKeys(), 'instance-a');
    const draft = draftRequest(Date.now(), { state: 'RUNNING', fence: FENCE });
    await instance.store.admit(draft);
    const result = { ...RESULT, ttsAudio: 'A'.repeat(300_000) };
    const sentBytes = async () =>
      Number(/total_net_output_bytes:(\d+)/.exec(await redis.connection.info('stats'))?.[1]);
    // MONITOR would get the speech as well.
    watcher.disconnect();
    const before = await sentBytes();
    const finished = await instance.store.move(
      draft.jobId,
      expectedOf(draft),
      changeTo('FINISHED', { result }),
    );
    if (finished.kind !== 'moved') throw new Error(finished.kind);
    const released = await instance.store.move(
      draft.jobId,
      expectedOf(finished.job),
      changeTo('RELEASED', { entry: { state: 'RELEASED', at: 1, attempt: 1 } }),
    );
    expect((await sentBytes()) - before).toBeLessThan(50_000);
    expect(released).toMatchObject({ kind: 'moved', job: { result } });
  });
});
