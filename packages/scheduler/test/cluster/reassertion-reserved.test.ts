/** Whoever stood still wakes with reservations that ended long ago: a store that may have lost writes is told what is left of them. */
import { describe, expect, it } from 'vitest';
import { jobNamed, onNode, RESERVATION_MS, RUNNING_MS, start } from './reassertion-rig.ts';

const [first, second] = [
  { nodeId: 'n1', attempt: 1 },
  { nodeId: 'n1', attempt: 2 },
];

describe('I1 no oversell: a reservation under which nothing was sent', () => {
  it('is told with what is left of it', async () => {
    const { failoverReplay, state, told } = start([jobNamed('a', { state: 'RESERVED', intent: first })]);
    state.reservationLeftMs.set('a:1', 1_200);
    await failoverReplay.run(onNode('n1'));
    expect(told).toEqual(['others', 'n1 a:1 1200']);
  });

  it('is not told once it ended: the slot may be another’s', async () => {
    const { failoverReplay, state, told } = start([
      jobNamed('a', { state: 'RESERVED', intent: first }),
      jobNamed('b', { state: 'RESERVED', fence: first, intent: second }),
      jobNamed('c', { state: 'RUNNING', fence: first }),
    ]);
    state.reservationLeftMs.set('a:1', 0).set('b:2', 0);
    await failoverReplay.run(onNode('n1'));
    expect(told).toEqual(['others', `n1 b:1 ${RESERVATION_MS}`, `n1 c:1 ${RUNNING_MS}`]);
  });

  it('lets nobody rely on what others made to last where writes may be lost', async () => {
    const { failoverReplay, state } = start([]);
    await failoverReplay.run(onNode('n1'));
    expect(state.doubted).toEqual(['n1']);
  });

  it('says nothing of an attempt that was sent: its node may have taken it', async () => {
    const { failoverReplay, state, told } = start([jobNamed('a', { state: 'DISPATCHED', fence: first })]);
    state.reservationLeftMs.set('a:1', 0);
    await failoverReplay.run(onNode('n1'));
    expect(told).toEqual(['others', `n1 a:1 ${RESERVATION_MS}`]);
  });
});
