/** Reservations that grew old before they were used, as those of a process that slept do. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from './faulty-rig.ts';

/** Between the reserve and the send: longer than a reservation may be kept before its job leaves. */
const LONG_MS = 2_500;

describe('I1 no oversell: an old reservation', () => {
  it('is renewed before its job leaves, so that it outlives the wait for the acknowledgement', async () => {
    const { rig, store, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    store.plan({ method: 'admit', fault: { delayMs: LONG_MS } });
    const first = rig.service.dispatch(rig.request());
    await rig.clock.advance(LONG_MS + 10);
    expect(await first).toMatchObject({ kind: 'dispatched' });
    expect(ledger.calls('commit')).toBe(1);
    // Past the end of the first reservation, before the end of the patience with the node.
    await rig.clock.advance(2_800);
    expect(await rig.used('node-a')).toBe(1);
  });

  it('is not used if the slot is another’s by now: the job goes elsewhere', async () => {
    const { rig, store, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    store.plan({ method: 'admit', at: [1], fault: { delayMs: 5_500 } });
    const first = rig.service.dispatch(rig.request());
    await rig.clock.advance(5_100);
    await ledger.port.reserve('node-a', 'job-other:1', 60_000);
    await rig.addNode('node-b');
    await rig.clock.advance(500);
    expect(await first).toMatchObject({ kind: 'dispatched', job: { fence: { nodeId: 'node-b' } } });
    expect(rig.sent.filter(({ nodeId }) => nodeId === 'node-a')).toEqual([]);
  });

  it('costs nothing while it is young', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.dispatch();
    expect(ledger.calls('commit')).toBe(0);
  });
});
