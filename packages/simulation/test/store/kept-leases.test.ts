/** A lease that whoever holds the node's socket keeps, in the simulated store. */
import { describe, expect, it } from 'vitest';
import { createStoreRig } from './store-rig.ts';

const CAPACITY = { slots: 2, isAccepting: true };
const TTL_MS = 60_000;

async function start(settings: Parameters<typeof createStoreRig>[0] = {}) {
  const rig = createStoreRig(settings);
  const node = rig.nodeOn(0);
  await rig.answered(rig.here.store.ledger.declare(node, CAPACITY));
  const reserve = (by = rig.here, lease = 'job:1', on = node) =>
    Promise.resolve(by.store.ledger.reserve(on, lease, TTL_MS));
  const usedOn = async (on: string, by = rig.there) =>
    (await rig.answered(by.store.ledger.loads([on]))).get(on)?.used;
  return { ...rig, node, reserve, usedOn };
}

describe('a lease that is kept', () => {
  it('lasts for longer, unless it ended or was given up', async () => {
    const { here, reserve, answered, usedOn, node, time } = await start();
    const { ledger } = here.store;
    await answered(reserve());
    await answered(reserve(here, 'job:2'));
    await answered(ledger.fence(node, 'job:2'));
    expect(await answered(ledger.keep(node, 'job:1', 2 * TTL_MS))).toBe(true);
    expect(await answered(ledger.keep(node, 'job:2', 2 * TTL_MS))).toBe(false);
    await time.runUntil(time.now() + TTL_MS);
    expect(await usedOn(node)).toBe(1);
    await answered(ledger.release(node, 'job:1'));
    expect(await answered(ledger.keep(node, 'job:1', TTL_MS))).toBe(false);
    expect(await usedOn(node)).toBe(0);
  });
});
