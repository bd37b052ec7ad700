/** An instance publishes its figures for operators, as long as it may write. */
import { expect, it } from 'vitest';
import { createFiguresReporter } from '../../../src/cluster/operators/figures-reporter.ts';
import { faulty } from '../../support/faulty.ts';
import { createInstancesInMemory } from '../../support/instances-in-memory.ts';
import { createTestCluster } from '../../support/test-cluster.ts';

function start() {
  const { clock, store: shared } = createTestCluster();
  const store = faulty(shared.figures, [], clock);
  const state = { jobs: 1, isFenced: false };
  const reporter = createFiguresReporter({
    figures: store.port,
    clock,
    log: createInstancesInMemory({ clock }).log,
    instanceId: () => 'a',
    read: () => ({ nodes: 0, sessions: 0, jobs: state.jobs }),
    isFenced: () => state.isFenced,
    intervalMs: 1_000,
  });
  return { clock, store, state, reporter, jobs: async () => (await store.port.read('a'))?.jobs };
}

it('publishes its figures at the start and in every interval', async () => {
  const { clock, state, reporter, jobs } = start();
  reporter.start();
  await clock.advance(0);
  expect(await jobs()).toBe(1);
  state.jobs = 2;
  await clock.advance(999);
  expect(await jobs()).toBe(1);
  await clock.advance(1);
  expect(await jobs()).toBe(2);
});

it('figures survive two failed writes and return after an outage', async () => {
  const { clock, store, state, reporter, jobs } = start();
  reporter.start();
  await clock.advance(0);
  store.plan({ method: 'write', fault: 'throw' });
  await clock.advance(2_999);
  expect(await jobs()).toBe(1);
  await clock.advance(1);
  expect(await jobs()).toBeUndefined();
  store.heal();
  state.jobs = 5;
  await clock.advance(1_000);
  expect(await jobs()).toBe(5);
});

it('publishes nothing while fenced or after a stop', async () => {
  const { clock, store, state, reporter } = start();
  state.isFenced = true;
  reporter.start();
  await clock.advance(3_000);
  expect(store.calls('write')).toBe(0);
  state.isFenced = false;
  await clock.advance(1_000);
  expect(store.calls('write')).toBe(1);
  reporter.stop();
  await clock.advance(5_000);
  expect(store.calls('write')).toBe(1);
  expect(clock.pending()).toBe(0);
});
