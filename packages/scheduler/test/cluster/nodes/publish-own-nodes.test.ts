/** Publishing own nodes when the store has a newer record, while this instance is fenced, and as a new incarnation. */
import { expect, it } from 'vitest';
import { WITHDRAWN_VERSION } from '../../../src/ports/node-records.ts';
import { ownNode } from './node-replica-rig.ts';
import { createHeldPublisher, ENLIST_MS } from './own-nodes-rig.ts';

const NODE = ownNode({ nodeId: 'node-1', generation: 2 });

async function start() {
  const rig = createHeldPublisher();
  rig.records.keep(NODE);
  await rig.answer('post 2', { kind: 'posted' });
  return rig;
}

it.each([
  ['a newer connection elsewhere', { generation: 3, version: 1 }, 3],
  ['its own connection, which was withdrawn', { generation: 2, version: WITHDRAWN_VERSION }, 2],
])('gives a node up for %s', async (_, known, generation) => {
  const { clock, records, overtaken, answer, requested } = await start();
  records.beat('node-1', clock.now());
  await answer('seen 2', { kind: 'stale', ...known });
  expect([records.get('node-1'), overtaken, requested()]).toEqual([undefined, [`node-1 ${generation}`], []]);
});

it('publishes a higher version if the store has a newer one', async () => {
  const { clock, records, overtaken, posted, answer } = await start();
  const version = clock.now() + 60_000;
  records.beat('node-1', clock.now());
  await answer('seen 2', { kind: 'stale', generation: 2, version });
  await answer('post 2', { kind: 'posted' });
  expect([posted.at(-1)?.version, overtaken, records.get('node-1')]).toEqual([version + 1, [], NODE]);
});

it('publishes nothing while fenced, and the rest afterwards', async () => {
  const { clock, connection, records, answer, requested } = await start();
  records.keep(ownNode({ nodeId: 'node-2', generation: 5 }));
  await answer('post 5', { kind: 'posted' });
  await clock.advance(ENLIST_MS);
  connection.isFenced = true;
  records.keep(NODE);
  records.drop('node-2', 5);
  await records.publishPending();
  expect(requested()).toEqual([]);
  connection.isFenced = false;
  void records.publishPending();
  await answer('post 2', { kind: 'posted' });
  expect(requested()).toEqual(['enlist']);
});

it('publishes a node under its new incarnation at the next heartbeat', async () => {
  const { clock, connection, records, posted, answer, requested } = await start();
  connection.incarnation = 'me-2';
  records.beat('node-1', clock.now());
  await answer('post 2', { kind: 'posted' });
  expect(posted.map(({ incarnation }) => incarnation)).toEqual(['me-1', 'me-2']);
  records.beat('node-1', clock.now());
  expect(requested()).toEqual(['seen 2']);
});

it('keeps the newer of two connections in any order', async () => {
  const { records, requested } = await start();
  records.keep(ownNode({ nodeId: 'node-1', generation: 1 }));
  expect([records.get('node-1'), requested()]).toEqual([NODE, []]);
});

it('publishes nothing for nodes it withdrew at shutdown', async () => {
  const { clock, records, answer, requested } = await start();
  const leaving = records.leave();
  records.beat('node-1', clock.now());
  await answer('withdraw 2', { kind: 'withdrawn' });
  await leaving;
  await records.publishPending();
  expect(requested()).toEqual([]);
});
