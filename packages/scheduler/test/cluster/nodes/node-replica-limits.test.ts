/** What an instance does with node records that exceed its limits: it refuses the excess, and uses the rest. */
import { describe, expect, it } from 'vitest';
import { createDeclarationBudget } from '../../../src/management/registration/declaration-budget.ts';
import { viewFor } from '../../contracts/node-record-fixtures.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { beating, joinReplica, ownNode, SETTINGS } from './node-replica-rig.ts';

/** A node whose made-up languages need about 100 kB. */
const madeUp = (nodeId: string) => {
  const view = viewFor(nodeId);
  const asr = Array.from({ length: 400 }, (_, at) => `${nodeId}-${at}`);
  return ownNode({ nodeId, credential: 'evil', view: { ...view, profile: { ...view.profile, asr } } });
};

function startRig() {
  const {
    clock,
    store: { nodeRecords },
  } = createTestCluster({ settings: { forgetNodesAfterMs: 20_000 } });
  const limits = { nodeBytes: 1e6, credentialBytes: 4e5, fleetBytes: 6e5, credentialNodes: 100 };
  const refusals: object[] = [];
  const budget = createDeclarationBudget({
    limits,
    meter: { count: (_, labels) => void refusals.push(labels ?? {}) },
  });
  const join = (part: Partial<Parameters<typeof joinReplica>[0]> = {}) =>
    joinReplica({ nodeRecords, clock, ...part });
  return { clock, join, budget, refusals };
}

describe('the node replica at its limits', () => {
  it('starts with more in the store than fits, and uses what fits', async () => {
    const { clock, join, budget, refusals } = startRig();
    const a = join();
    await a.replica.start();
    const nodes = Array.from({ length: 10 }, (_, at) => madeUp(`node-${at}`));
    for (const node of nodes) a.replica.keep(node);
    await clock.advance(1);

    const warnings: string[] = [];
    const b = join({ budget: budget.others, warn: (line) => void warnings.push(line) });
    await b.replica.start();
    const { known, refused } = b.replica.stats();
    expect({ known, refused }).toEqual({ known: 3, refused: 7 });
    expect(b.views.size).toBe(3);
    expect(refusals).toEqual(Array(7).fill({ limit: 'credential' }));
    expect(warnings).toEqual(['nodes of other instances are not used']);

    const honest = ownNode({ credential: 'honest' });
    a.replica.keep(honest);
    await clock.advance(1);
    expect(b.views.has(honest.nodeId)).toBe(true);
  });

  it('does not read a refused record again until its time has passed', async () => {
    const { clock, join, budget } = startRig();
    const [a, b] = [join(), join({ budget: budget.others })];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const nodes = Array.from({ length: 4 }, (_, at) => madeUp(`node-${at}`));
    const ends = nodes.map((node) => {
      a.replica.keep(node);
      return beating(clock, a.replica, node.nodeId);
    });
    await clock.advance(1);
    expect(b.replica.stats().refused).toBe(1);
    const [reads, pages] = [b.calls.read, b.calls.page];
    await clock.advance(2 * SETTINGS.tickMs);
    expect(b.calls.page).toBeGreaterThan(pages);
    expect(b.calls.read).toBe(reads);
    for (const end of ends) end();
  });

  it('uses a refused node as soon as others have made room', async () => {
    const { clock, join, budget } = startRig();
    const [a, b] = [join(), join({ budget: budget.others })];
    await Promise.all([a.replica.start(), b.replica.start()]);
    const nodes = Array.from({ length: 4 }, (_, at) => madeUp(`node-${at}`));
    for (const node of nodes) {
      a.replica.keep(node);
      beating(clock, a.replica, node.nodeId);
    }
    await clock.advance(1);
    const [refused] = nodes.filter(({ nodeId }) => !b.views.has(nodeId));
    const [used] = nodes.filter(({ nodeId }) => b.views.has(nodeId));
    a.replica.drop(used?.nodeId ?? '', 1);
    await clock.advance(SETTINGS.presenceMs + 2 * SETTINGS.tickMs);
    expect(b.views.has(refused?.nodeId ?? '')).toBe(true);
    expect(b.replica.stats()).toMatchObject({ known: 3, refused: 0 });
  });

  it('drops a node whose new record exceeds the limits', async () => {
    const { clock, join, budget } = startRig();
    const [a, b] = [join(), join({ budget: budget.others })];
    await Promise.all([a.replica.start(), b.replica.start()]);
    for (const nodeId of ['node-0', 'node-1', 'node-2']) a.replica.keep(madeUp(nodeId));
    const node = ownNode({ nodeId: 'node-3', credential: 'evil' });
    a.replica.keep(node);
    await clock.advance(1);
    const before = budget.bytes();
    expect(b.views.has('node-3')).toBe(true);
    a.replica.keep(madeUp('node-3'));
    await clock.advance(SETTINGS.tickMs);
    expect(b.received.removed).toEqual(['node-3']);
    expect(budget.bytes()).toBeLessThan(before);
  });
});
