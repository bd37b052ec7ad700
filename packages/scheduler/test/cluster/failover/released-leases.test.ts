/** A slot that is given back just while the store is told that it is held. */
import { expect, it } from 'vitest';
import { LEFT_MS, onNode, recent, runningOn, start } from './failover-replay-rig.ts';

it('is given back once more: the first time may have found nothing to give back', async () => {
  const { state, told, failoverReplay } = start([runningOn('n1', 'a')]);
  state.whileTelling = () => {
    state.givenBack.add('a:1');
    state.releases = [recent('a:1', 'n1')];
  };
  await failoverReplay.run(onNode('n1'));
  expect(told).toEqual(['others', `n1 a:1 ${LEFT_MS}`, 'n1 a:1 free']);
});
