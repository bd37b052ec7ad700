/**
 * Faults of the simulated store have the effects that they have on Redis: late, unknown or lost commands, and notifications of the
 * watchers.
 */
import { describe, expect, it } from 'vitest';
import type { Affected } from '../../../scheduler/dist/cluster/recovery/failover-replay.js';
import { createStoreRig, TIMEOUT_MS } from './store-rig.ts';

const DOWN = 'SCHEDULER_DEPENDENCY_DOWN';
const CAPACITY = { slots: 2, isAccepting: true };
const TTL_MS = 60_000;

async function start(settings: Parameters<typeof createStoreRig>[0] = {}) {
  const rig = createStoreRig(settings);
  const [node, other] = [rig.nodeOn(0), rig.nodeOn(1)];
  for (const each of [node, other]) await rig.answered(rig.here.store.ledger.declare(each, CAPACITY));
  const reserve = (by = rig.here, lease = 'job:1', on = node) =>
    Promise.resolve(by.store.ledger.reserve(on, lease, TTL_MS));
  const usedOn = async (on: string, by = rig.there) =>
    (await rig.answered(by.store.ledger.loads([on]))).get(on)?.used;
  return { ...rig, node, other, reserve, usedOn };
}

describe('a frozen shard', () => {
  it('executes a timed-out command when it wakes', async () => {
    const { store, reserve, within, usedOn, node, time } = await start();
    store.freezeShard(0);
    const ended = await within(2_000, reserve());
    expect(ended).toMatchObject({ kind: 'failed', code: DOWN, isUnsent: false });
    expect(ended.tookMs).toBeCloseTo(TIMEOUT_MS, 3);
    store.wakeShard(0);
    await time.runUntil(time.now() + 1_000);
    expect(await usedOn(node)).toBe(1);
  });

  it('refuses commands as unsent after a timeout, until it answers a probe', async () => {
    const { store, reserve, within, time, usedOn, node } = await start();
    store.freezeShard(0);
    await within(1_000, reserve());
    const refused = await within(10, reserve(undefined, 'job:2'));
    expect(refused).toMatchObject({ kind: 'failed', code: DOWN, isUnsent: true, tookMs: 0 });
    store.wakeShard(0);
    await time.runUntil(time.now() + 1_500);
    expect(await within(10, reserve(undefined, 'job:3'))).toMatchObject({ kind: 'answered' });
    // What was refused was never sent.
    expect(await usedOn(node)).toBe(2);
  });

  it('receives the ended jobs later, a bounded number at a time', async () => {
    const { store, here, answered, move, jobOn, time, within } = await start();
    // The index of an instance lies on the shard of its figures, which this test does not read otherwise.
    const frozen = [];
    for (const shard of [0, 1, 2]) {
      store.freezeShard(shard);
      const asked = await within(1_000, here.store.figures.read('here'));
      store.wakeShard(shard);
      await time.runUntil(time.now() + 1_500);
      if (asked.kind === 'failed') frozen.push(shard);
    }
    const [home] = frozen as [number];
    const jobs = Array.from({ length: 150 }, () => jobOn((home + 1) % 3, here.machine.clock.now()));
    for (const job of jobs) await answered(here.jobs.admit(job));
    store.freezeShard(home);
    for (const job of jobs) await move(here, job, 'FAILED', { failure: { code: 'X', message: '' } });
    await time.runUntil(time.now() + 5_000);
    store.wakeShard(home);
    await time.runUntil(time.now() + 5_000);
    expect(await answered(here.jobs.drivenBy('here', 1_000))).toEqual([]);
  });

  it('does not affect the other shards', async () => {
    const { store, reserve, within, other } = await start();
    store.freezeShard(0);
    await within(1_000, reserve());
    expect(await within(10, reserve(undefined, 'job:1', other))).toMatchObject({ kind: 'answered' });
  });
});

describe('lost messages', () => {
  it.each([
    ['requests', 'loseRequests', 0],
    ['replies', 'loseReplies', 1],
  ] as const)('leave it unknown whether %s took effect', async (_, lose, used) => {
    const { store, reserve, within, usedOn, node, time } = await start();
    store[lose](0, 1);
    expect(await within(1_000, reserve())).toMatchObject({ kind: 'failed', code: DOWN, isUnsent: false });
    store[lose](0, 0);
    await time.runUntil(time.now() + 1_000);
    expect(await usedOn(node)).toBe(used);
  });
});

describe('a failover', () => {
  it('loses exactly what was written after the replica fell behind', async () => {
    const { store, reserve, answered, within, usedOn, node, time } = await start();
    await answered(reserve(undefined, 'kept:1'));
    store.failOver(0, { lossMs: 50, awayMs: 1_000 });
    await answered(reserve(undefined, 'lost:1'));
    expect(await usedOn(node)).toBe(2);
    await time.runUntil(time.now() + 100);
    // No server serves it: refused at once, but not as unsent.
    expect(await within(10, reserve())).toMatchObject({ kind: 'failed', isUnsent: false, tookMs: 0 });
    await time.runUntil(time.now() + 2_000);
    expect(await usedOn(node)).toBe(1);
    expect(await answered(reserve(undefined, 'kept:1'))).toMatchObject({ kind: 'already' });
  });

  it('loses no confirmed write if writes wait for the replica', async () => {
    const { store, reserve, within, usedOn, node, time } = await start({ durability: 'replica' });
    store.failOver(0, { lossMs: 1_000, awayMs: 500 });
    const ended = await within(1_000, reserve());
    expect(ended).toMatchObject({ kind: 'failed', code: DOWN, isUnsent: false });
    await time.runUntil(time.now() + 2_000);
    expect(await usedOn(node)).toBe(0);
    expect(await within(10, reserve())).toMatchObject({ kind: 'answered' });
  });

  it('fails pending commands when the master dies, before their timeout', async () => {
    const { store, reserve, within } = await start();
    store.freezeShard(0);
    const asked = within(500, reserve());
    store.down(0);
    expect(await asked).toMatchObject({ kind: 'failed', code: DOWN, isUnsent: false });
    expect((await asked).tookMs).toBeLessThan(5);
  });

  it('notifies each watcher at its own time, with what lies on the shard', async () => {
    const { store, here, there, node, other, time, jobOn } = await start();
    const received: { at: number; who: string; what: Affected }[] = [];
    const returned: string[] = [];
    for (const { machine, store: own } of [here, there]) {
      own.watch('somebody', {
        changed: (what) => received.push({ at: time.now(), who: machine.name, what }),
        returned: () => returned.push(machine.name),
      });
    }
    await time.runUntil(time.now() + 2_000);
    expect([received, returned]).toEqual([[], []]);
    store.failOver(0, { lossMs: 0, awayMs: 1_000 });
    const backAt = time.now() + 1_000;
    await time.runUntil(backAt);
    expect(received).toEqual([]);
    await time.runUntil(backAt + 2_000);
    expect(received.map(({ who }) => who).sort()).toEqual(['here', 'there']);
    expect(new Set(received.map(({ at }) => at)).size).toBe(2);
    for (const { at, what } of received) {
      expect(at - backAt).toBeLessThan(1_000);
      expect([what.node(node), what.node(other)]).toEqual([true, false]);
      expect(what.job(jobOn(0, 0).jobId)).toBe(true);
    }
    expect(returned.sort()).toEqual(['here', 'there']);
  });

  it('rolls a job back, and only its driver restores it', async () => {
    const { store, here, there, answered, move, time, jobOn } = await start();
    const draft = jobOn(0, here.machine.clock.now());
    await answered(here.jobs.admit(draft));
    const fence = { nodeId: 'node-a', attempt: 1 };
    store.failOver(0, { lossMs: 100, awayMs: 500 });
    const reserved = await move(here, draft, 'RESERVED', { intent: fence });
    const dispatched = await move(here, reserved, 'DISPATCHED', { fence, intent: null });
    await time.runUntil(time.now() + 2_000);
    expect((await answered(there.jobs.get(draft.jobId)))?.state).toBe('CREATED');
    expect(await answered(here.jobs.restore(dispatched))).toBe('restored');
    expect(await answered(here.jobs.restore(reserved))).toBe('kept');
    expect(await answered(here.jobs.get(draft.jobId))).toEqual(dispatched);
  });
});

describe('a process that is cut off', () => {
  it('gets no reply in time, and its commands run after it reconnects', async () => {
    const { store, here, there, reserve, within, usedOn, node, time } = await start();
    store.partition(here.machine, 0);
    const ended = await within(5_000, reserve());
    expect(ended).toMatchObject({ kind: 'failed', code: DOWN, isUnsent: false });
    expect(await within(10, reserve(there, 'job:9'))).toMatchObject({ kind: 'answered' });
    expect(await usedOn(node)).toBe(1);
    store.heal(here.machine);
    await time.runUntil(time.now() + 1_000);
    expect(await usedOn(node)).toBe(2);
    expect(await within(10, reserve())).toMatchObject({ kind: 'answered', value: { kind: 'already' } });
  });
});

describe('a frozen process', () => {
  it('finds its calls timed out when it wakes, although they were answered', async () => {
    const { here, reserve, within, usedOn, node, time } = await start();
    const asked = within(3_000, reserve());
    here.machine.freeze();
    time.at(time.now() + 2_000, here.machine.wake);
    expect(await asked).toMatchObject({ kind: 'failed', code: DOWN, isUnsent: false });
    expect(await usedOn(node)).toBe(1);
  });

  it('gets no reply if it died, and its commands still run', async () => {
    const { here, reserve, within, usedOn, node } = await start();
    const asked = within(2_000, reserve());
    here.machine.kill();
    expect(await asked).toMatchObject({ kind: 'open' });
    expect(await usedOn(node)).toBe(1);
  });
});

describe('the whole store', () => {
  it('is unreachable while it is down, and keeps its data', async () => {
    const { store, here, reserve, answered, within, usedOn, node, time } = await start();
    await answered(reserve());
    store.down();
    expect(here.store.isReachable()).toBe(false);
    expect(await within(10, reserve(undefined, 'job:2'))).toMatchObject({ kind: 'failed', isUnsent: false });
    store.up();
    await time.runUntil(time.now() + 1_000);
    expect(here.store.isReachable()).toBe(true);
    expect(await usedOn(node)).toBe(1);
  });

  it('is empty after it was emptied, and accepts leases before their node', async () => {
    const { store, here, reserve, answered, usedOn, node } = await start();
    await answered(reserve());
    store.empty();
    expect(await answered(reserve())).toEqual({ kind: 'unknown_node' });
    expect(await answered(here.store.ledger.reassert(node, 'job:1', TTL_MS))).toBeUndefined();
    await answered(here.store.ledger.declare(node, CAPACITY));
    expect(await usedOn(node)).toBe(1);
  });
});

describe('hints', () => {
  async function hear(how: Parameters<ReturnType<typeof createStoreRig>['store']['spoilRumours']>[0]) {
    const { store, here, there, answered, time } = await start();
    const heard: string[] = [];
    await answered(there.store.hintBus.subscribe('there', (text) => heard.push(text)));
    store.spoilRumours(how);
    const said = Array.from({ length: 200 }, (_, at) => String(at));
    for (const text of said) {
      here.store.hintBus.send('there', text);
      await time.runUntil(time.now() + 1);
    }
    await time.runUntil(time.now() + 1_000);
    return { said, heard };
  }

  it('arrive once and in order without faults', async () => {
    const { said, heard } = await hear({});
    expect(heard).toEqual(said);
  });

  it('are lost, doubled and delayed as configured', async () => {
    expect((await hear({ lost: 1 })).heard).toEqual([]);
    expect((await hear({ doubled: 1 })).heard).toHaveLength(400);
    const { said, heard } = await hear({ late: 0.5, lateMs: 100 });
    expect(heard).not.toEqual(said);
    expect(heard.toSorted((one, other) => Number(one) - Number(other))).toEqual(said);
  });
});

it('gives the same replies at the same moments for the same seed', async () => {
  const run = async (seed: string): Promise<string> => {
    const { store, here, there, time, nodeOn } = createStoreRig({}, seed);
    const history: string[] = [];
    const note = (what: string) => (answer: unknown) =>
      void history.push(
        `${time.now()} ${what} ${answer instanceof Error ? answer.message : JSON.stringify(answer)}`,
      );
    for (const shard of [0, 1, 2])
      void here.store.ledger.declare(nodeOn(shard), CAPACITY).then(note('declared'), note('undeclared'));
    for (let at = 0; at < 200; at += 1) {
      const { ledger } = (at % 2 === 0 ? here : there).store;
      time.at(at * 20, () => {
        const asked = Promise.resolve(ledger.reserve(nodeOn(at % 3), `job:${at}`, 500));
        asked.then(note(`reserved ${at}`), note(`failed ${at}`));
      });
    }
    store.failOver(1, { lossMs: 300, awayMs: 400 });
    store.loseReplies(2, 0.2);
    time.at(900, () => store.freezeShard(0));
    time.at(2_100, () => store.wakeShard(0));
    await time.runUntil(8_000);
    return history.join('\n');
  };
  const [one, again, other] = [await run('a'), await run('a'), await run('b')];
  expect(one).toBe(again);
  expect(one).not.toBe(other);
  expect(one.split('\n')).toHaveLength(203);
});
