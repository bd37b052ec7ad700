/** Leases that a failover may have lost: those of attempts that may have reached their node are written again. */
import { describe, expect, it } from 'vitest';
import { jobNamed, LEFT_MS, onNode, recent, runningOn, start } from './failover-replay-rig.ts';

const [first, second] = [
  { nodeId: 'n1', attempt: 1 },
  { nodeId: 'n1', attempt: 2 },
];

describe('I1 no oversell: the replay of leases after a failover', () => {
  it('writes the lease of an intended attempt with the rest of its TTL', async () => {
    const { failoverReplay, state, written } = start([jobNamed('a', { state: 'RESERVED', intent: first })]);
    state.leftMs.set('a:1', 1_200);
    await failoverReplay.run(onNode('n1'));
    expect([written, state.taken]).toEqual([['others', 'n1 a:1 1200'], []]);
  });

  it('does not write a lease that was only requested', async () => {
    const { failoverReplay, state, written } = start([
      jobNamed('a', { state: 'RESERVED', intent: first }),
      jobNamed('b', { state: 'RESERVED', fence: first, intent: second }),
      jobNamed('c', { state: 'RUNNING', fence: first }),
    ]);
    state.leftMs.set('a:1', 0).set('b:2', 0);
    await failoverReplay.run(onNode('n1'));
    expect(written).toEqual(['others', `n1 b:1 ${LEFT_MS}`, `n1 c:1 ${LEFT_MS}`]);
  });

  it('writes the committed length of an attempt that was handed over', async () => {
    const { failoverReplay, state, written } = start([jobNamed('a', { state: 'DISPATCHED', fence: first })]);
    await failoverReplay.run(onNode('n1'));
    expect([written, state.taken]).toEqual([['others', `n1 a:1 ${LEFT_MS}`], ['a:1']]);
  });

  it('releases a lease again that was released while it was written', async () => {
    const { state, written, failoverReplay } = start([runningOn('n1', 'a')]);
    state.whileWriting = () => {
      state.released.add('a:1');
      state.releases = [recent('a:1', 'n1')];
    };
    await failoverReplay.run(onNode('n1'));
    expect(written).toEqual(['others', `n1 a:1 ${LEFT_MS}`, 'n1 a:1 free']);
  });
});
