/** The operators' view of all instances, also while a part of the store does not answer. */
import { expect, it } from 'vitest';
import { type ClusterStore, createClusterReader } from '../../../src/cluster/operators/cluster-reader.ts';
import { SchedulerError } from '../../../src/domain/errors.ts';
import { isPending } from '../../contracts/harness.ts';
import { faulty } from '../../support/faulty.ts';
import { createInstancesInMemory } from '../../support/instances-in-memory.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { instanceNamed, STARTED_AT } from '../../support/test-cluster.ts';

const OWN = { nodes: 3, sessions: 2, jobs: 1 };
const OK = { mode: 'cluster', isOk: true } as const;

async function start(change: (shared: ClusterStore) => ClusterStore = (shared) => shared) {
  const clock = createManualClock();
  const world = createInstancesInMemory({ clock });
  const self = await world.join('b');
  const reader = createClusterReader({
    clock,
    self: () => self,
    figures: () => OWN,
    store: () => OK,
    shared: change(world),
    answerMs: 500,
  });
  return { clock, reader, self, ...world };
}

const never = () => new Promise<never>(() => undefined);
const down = async () => {
  throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'no connection');
};

it('shows this instance first, then the others by name, with figures', async () => {
  const { reader, self, join, figures, inbox, die } = await start();
  const [c, a] = [await join('c'), await join('a')];
  await figures.write('a', { nodes: 7, sessions: 8, jobs: 9 }, 60_000);
  await inbox.send('a', 'read');
  await inbox.take('a', { max: 1, waitMs: 0 });
  await inbox.send('a', 'unread');
  await die('c', 'x');
  expect(await reader.read()).toEqual({
    at: expect.any(Number),
    instanceId: 'b',
    store: OK,
    orphans: [],
    instances: [
      {
        instanceId: 'b',
        state: 'self',
        instance: self,
        figures: OWN,
        inbox: { messages: 0, delivered: 0, dead: 0 },
      },
      {
        instanceId: 'a',
        state: 'living',
        instance: a,
        figures: { nodes: 7, sessions: 8, jobs: 9 },
        inbox: { messages: 2, delivered: 1, dead: 0 },
      },
      {
        instanceId: 'c',
        state: 'living',
        instance: c,
        figures: undefined,
        inbox: { messages: 0, delivered: 0, dead: 1 },
      },
    ],
    warnings: ['1 dead letter: look at it with "lingua dlq list"'],
  });
});

it('shows a single instance without a store', async () => {
  const self = instanceNamed('alone');
  const reader = createClusterReader({
    clock: createManualClock(),
    self: () => self,
    figures: () => OWN,
    store: () => ({ mode: 'embedded', isOk: true }),
    warnings: () => ['something to know'],
  });
  expect(await reader.read()).toMatchObject({
    store: { mode: 'embedded', isOk: true },
    instances: [{ state: 'self', figures: OWN, inbox: { messages: 0, delivered: 0, dead: 0 } }],
    orphans: [],
    warnings: ['something to know'],
  });
});

it('shows dead instances, which wait for a takeover', async () => {
  const { reader, join, instances } = await start();
  await instances.leave(await join('gone'));
  const { instances: lines, warnings } = await reader.read();
  expect(lines[1]).toMatchObject({ instanceId: 'gone', state: 'dead', instance: undefined });
  expect(warnings).toEqual(['gone is dead and waits for a takeover by a survivor']);
});

it('shows dead letters of removed instances while any are left', async () => {
  const { reader, join, die, goForGood, deadLetters } = await start();
  const gone = await join('gone');
  await die('gone', 'x', 'y');
  await goForGood(gone);
  const view = await reader.read();
  expect(view.instances).toHaveLength(1);
  expect(view.orphans).toEqual([{ instanceId: 'gone', deadLetters: 2 }]);
  expect(view.warnings).toEqual([
    '2 dead letters, 2 of removed instances: look at them with "lingua dlq list"',
  ]);
  await deadLetters.purge('gone', { max: 10 });
  expect(await reader.read()).toMatchObject({ orphans: [], warnings: [] });
});

it('counts the dead letters of a returned instance once', async () => {
  const { reader, join, die, goForGood } = await start();
  const gone = await join('back');
  await die('back', 'x');
  await goForGood(gone);
  await join('back', { incarnation: 'back-2' });
  expect(await reader.read()).toMatchObject({
    orphans: [],
    instances: [{ state: 'self' }, { state: 'living', inbox: { dead: 1 } }],
    warnings: ['1 dead letter: look at it with "lingua dlq list"'],
  });
});

it('limits the wait for a shard and shows the rest', async () => {
  const { clock, reader, join, die } = await start((shared) => ({
    ...shared,
    instances: {
      all: shared.instances.all,
      living: (ids) => (ids[0] === 'slow' ? never() : shared.instances.living(ids)),
    },
    inbox: { size: (id) => (id === 'slow' ? never() : shared.inbox.size(id)) },
    figures: { read: (id) => (id === 'slow' ? never() : shared.figures.read(id)) },
  }));
  await join('slow');
  await join('well');
  await die('well', 'x');
  const reading = reader.read();
  await clock.advance(499);
  expect(await isPending(reading)).toBe(true);
  await clock.advance(1);
  const { instances, warnings } = await reading;
  expect(instances).toMatchObject([
    { state: 'self' },
    { instanceId: 'slow', state: 'unknown', figures: undefined, inbox: undefined },
    { instanceId: 'well', state: 'living', inbox: { dead: 1 } },
  ]);
  expect(warnings[0]).toBe('no answer in time about slow: their Redis shard is slow');
  expect(clock.pending()).toBe(0);
});

it('shows only this instance while the store fails, with a warning', async () => {
  const { reader, self } = await start(() => ({
    instances: { all: down, living: down },
    inbox: { size: down },
    figures: { read: down },
    deadLetters: { orphaned: down },
  }));
  expect(await reader.read()).toMatchObject({
    store: { mode: 'cluster', isOk: false, detail: 'no connection' },
    instances: [{ instance: self, figures: OWN, inbox: undefined }],
    warnings: [
      'Redis does not answer: no connection; new work is refused',
      'the other instances are unknown: Redis did not answer',
    ],
  });
});

it('warns of different versions and of a full inbox', async () => {
  const { reader, join } = await start((shared) => ({
    ...shared,
    inbox: {
      size: async (id) => (id === 'old' ? { messages: 1_000, delivered: 0, dead: 0 } : shared.inbox.size(id)),
    },
  }));
  await join('old', { version: '1.0.0' });
  expect((await reader.read()).warnings).toEqual([
    '1000 messages wait in the inbox of old: it is too slow, or frozen',
    'versions differ: 1.0.0, 1.2.3; expected only during a rolling restart',
  ]);
});

it('warns of different pools, with the instances of each', async () => {
  const { reader, join, figures } = await start();
  for (const id of ['a', 'c', 'silent']) await join(id);
  for (const id of ['a', 'c']) await figures.write(id, { ...OWN, pools: '0000beef' }, 60_000);
  expect((await reader.read()).warnings).toEqual([
    'pools differ: none on b; 0000beef on a, c; give all of them the same configuration and reload it (SIGHUP)',
  ]);
});

it('leaves no timer after an answer in time', async () => {
  const { clock, reader, join } = await start();
  await join('a');
  await reader.read();
  expect(clock.pending()).toBe(0);
});

it('concurrent callers share one answer', async () => {
  const clock = createManualClock();
  const world = createInstancesInMemory({ clock });
  const self = await world.join('b');
  const counted = faulty(world.instances, [], clock);
  const shared = { ...world, instances: counted.port };
  const reader = createClusterReader({
    clock,
    self: () => self,
    figures: () => OWN,
    store: () => OK,
    shared,
  });
  const [one, other] = await Promise.all([reader.read(), reader.read()]);
  expect(one).toBe(other);
  expect(counted.calls('all')).toBe(1);
  expect(await reader.read()).not.toBe(one);
});

it('I11 bounded: shows 500 other instances and the number of the rest', async () => {
  const { reader, join } = await start();
  for (let number = 0; number < 502; number += 1) await join(`i-${String(number).padStart(3, '0')}`);
  const { instances, warnings } = await reader.read();
  expect(instances).toHaveLength(501);
  expect(warnings).toEqual(['2 more instances are not shown']);
});

it('shows the start time of an instance from its presence', async () => {
  const { reader, join, instances } = await start();
  const other = await join('a');
  await instances.renew(other, 60_000);
  expect((await reader.read()).instances[1]?.instance?.startedAt).toBe(STARTED_AT);
});
