/** What the board is told of own nodes when it knows better, when this instance may be dead, and when it lives anew. */
import { expect, it } from 'vitest';
import { WITHDRAWN_VERSION } from '../../../src/ports/node-records.ts';
import { ownNode } from './node-replica-rig.ts';
import { ENLIST_MS, openHeldSheets } from './own-nodes-rig.ts';

const NODE = ownNode({ nodeId: 'node-1', generation: 2 });

async function start() {
  const rig = openHeldSheets();
  rig.records.keep(NODE);
  await rig.answer('post 2', { kind: 'posted' });
  return rig;
}

it.each([
  ['a later connection elsewhere', { generation: 3, version: 1 }, 3],
  ['its own, which was taken off', { generation: 2, version: WITHDRAWN_VERSION }, 2],
])('gives a node up for %s', async (_, known, generation) => {
  const { clock, records, overtaken, answer, asked } = await start();
  records.beat('node-1', clock.now());
  await answer('seen 2', { kind: 'stale', ...known });
  expect([records.get('node-1'), overtaken, asked()]).toEqual([undefined, [`node-1 ${generation}`], []]);
});

it('tells a node anew, with a later version, if the board knows a later one of the same connection', async () => {
  const { clock, records, overtaken, posted, answer } = await start();
  const version = clock.now() + 60_000;
  records.beat('node-1', clock.now());
  await answer('seen 2', { kind: 'stale', generation: 2, version });
  await answer('post 2', { kind: 'posted' });
  expect([posted.at(-1)?.version, overtaken, records.get('node-1')]).toEqual([version + 1, [], NODE]);
});

it('tells nothing while this instance may have been taken for dead, and what is left afterwards', async () => {
  const { clock, way, records, answer, asked } = await start();
  records.keep(ownNode({ nodeId: 'node-2', generation: 5 }));
  await answer('post 5', { kind: 'posted' });
  await clock.advance(ENLIST_MS);
  way.isFenced = true;
  records.keep(NODE);
  records.drop('node-2', 5);
  await records.round();
  expect(asked()).toEqual([]);
  way.isFenced = false;
  void records.round();
  await answer('post 2', { kind: 'posted' });
  expect(asked()).toEqual(['enlist']);
});

it('tells a node anew under the name of the next life, at its next heartbeat', async () => {
  const { clock, way, records, posted, answer, asked } = await start();
  way.incarnation = 'me-2';
  records.beat('node-1', clock.now());
  await answer('post 2', { kind: 'posted' });
  expect(posted.map(({ incarnation }) => incarnation)).toEqual(['me-1', 'me-2']);
  records.beat('node-1', clock.now());
  expect(asked()).toEqual(['seen 2']);
});

it('keeps the later of two connections, whichever is heard of last', async () => {
  const { records, asked } = await start();
  records.keep(ownNode({ nodeId: 'node-1', generation: 1 }));
  expect([records.get('node-1'), asked()]).toEqual([NODE, []]);
});

it('tells nothing more of nodes that it took off at its end', async () => {
  const { clock, records, answer, asked } = await start();
  const leaving = records.leave();
  records.beat('node-1', clock.now());
  await answer('withdraw 2', { kind: 'withdrawn' });
  await leaving;
  await records.round();
  expect(asked()).toEqual([]);
});
