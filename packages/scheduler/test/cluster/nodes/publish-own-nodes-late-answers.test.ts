/** Late answers of the store about an earlier connection of a node that has connected here again. */
import { expect, it } from 'vitest';
import { ownNode } from './node-replica-rig.ts';
import { ENLIST_MS, createHeldPublisher as start } from './own-nodes-rig.ts';

const NEWER = { kind: 'stale', generation: 2, version: 1 } as const;

const [OLDER_NODE, NODE] = [ownNode({ nodeId: 'node-1' }), ownNode({ nodeId: 'node-1', generation: 2 })];

it.each(['post 1', 'seen 1'])(
  'a late answer about the previous connection keeps the new one: %s',
  async (late) => {
    const { clock, records, overtaken, answer } = start();
    records.keep(OLDER_NODE);
    if (late === 'seen 1') {
      await answer('post 1', { kind: 'posted' });
      records.beat('node-1', clock.now());
    }
    records.keep(NODE);
    await answer('post 2', { kind: 'posted' });
    await answer(late, NEWER);
    expect([records.get('node-1'), overtaken]).toEqual([NODE, []]);
  },
);

it('a late answer to a withdrawal keeps the new connection', async () => {
  const { records, overtaken, answer } = start();
  records.keep(OLDER_NODE);
  await answer('post 1', { kind: 'posted' });
  records.drop('node-1', 1);
  records.keep(NODE);
  await answer('post 2', { kind: 'posted' });
  await answer('withdraw 1', NEWER);
  expect([records.get('node-1'), overtaken]).toEqual([NODE, []]);
});

it('a withdrawal that finds a newer connection elsewhere reports it', async () => {
  const { records, overtaken, answer } = start();
  records.keep(OLDER_NODE);
  await answer('post 1', { kind: 'posted' });
  records.drop('node-1', 1);
  await answer('withdraw 1', NEWER);
  expect(overtaken).toEqual(['node-1 2']);
});

it('ids are listed again if data was lost during the listing', async () => {
  const { clock, records, answer, requested } = start();
  records.keep(OLDER_NODE);
  await answer('post 1', { kind: 'posted' });
  await clock.advance(ENLIST_MS);
  const publishPending = records.publishPending();
  await clock.advance(0);
  records.publishAgain();
  await answer('enlist', {});
  await publishPending;
  void records.publishPending();
  await answer('post 1', { kind: 'already' });
  expect(requested()).toEqual(['enlist']);
});
