/** Nothing is lost, and everything takes longer: hash slots of the simulated store that move, and a process that is far from it. */
import { describe, expect, it } from 'vitest';
import { createStoreRig } from './store-rig.ts';

const CAPACITY = { slots: 50, isAccepting: true };
const TTL_MS = 60_000;
const TIMES = 20;

async function start() {
  const rig = createStoreRig();
  const [node, other] = [rig.nodeOn(0), rig.nodeOn(1)];
  for (const each of [node, other]) await rig.answered(rig.here.store.ledger.declare(each, CAPACITY));

  /** How long the slowest of several calls takes, one after the other. */
  async function slowest(by: typeof rig.here, on: string): Promise<number> {
    let most = 0;
    for (let time = 0; time < TIMES; time++) {
      const reserving = Promise.resolve(by.store.ledger.reserve(on, `${by.machine.name}:${time}`, TTL_MS));
      const { kind, tookMs } = await rig.within(1_000, reserving);
      expect(kind).toBe('answered');
      most = Math.max(most, tookMs);
    }
    return most;
  }
  return { ...rig, node, other, slowest };
}

describe('moving hash slots', () => {
  it('slow their shard down for all processes until they have moved', async () => {
    const { store, here, there, node, other, slowest } = await start();
    store.beginMove(0);
    expect(await slowest(here, node)).toBeGreaterThan(100);
    expect(await slowest(there, node)).toBeGreaterThan(100);
    expect(await slowest(here, other)).toBeLessThan(5);
    store.endMove(0);
    expect(await slowest(here, node)).toBeLessThan(5);
  });

  it('notify watchers as if writes might be lost, and lose none', async () => {
    const { store, here, node, other, time, answered } = await start();
    const received: boolean[][] = [];
    here.store.watch('somebody', {
      changed: (what) => received.push([what.node(node), what.node(other)]),
      returned() {},
    });
    await answered(here.store.ledger.reserve(node, 'job:1', TTL_MS));
    store.beginMove(0);
    await time.runUntil(time.now() + 1_000);
    store.endMove(0);
    await time.runUntil(time.now() + 1_000);
    expect(received).toEqual([
      [true, false],
      [true, false],
    ]);
    expect((await answered(here.store.ledger.loads([node]))).get(node)?.used).toBe(1);
  });
});

describe('a process that is far from the store', () => {
  it('waits longer for every command until it is near again', async () => {
    const { store, here, there, node, other, slowest } = await start();
    store.slowDown(here.machine);
    expect(await slowest(here, node)).toBeGreaterThan(100);
    expect(await slowest(here, other)).toBeGreaterThan(100);
    expect(await slowest(there, node)).toBeLessThan(5);
    store.speedUp(here.machine);
    expect(await slowest(here, node)).toBeLessThan(5);
  });
});
