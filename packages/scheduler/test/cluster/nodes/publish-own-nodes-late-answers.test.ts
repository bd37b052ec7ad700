/** Answers of the board that come late: the node may have connected here anew meanwhile, and they say nothing of that connection. */
import { expect, it } from 'vitest';
import { ownNode } from './node-replica-rig.ts';
import { ENLIST_MS, openHeldSheets as start } from './own-nodes-rig.ts';

const NEWER = { kind: 'stale', generation: 2, version: 1 } as const;

const [OLDER_NODE, NODE] = [ownNode({ nodeId: 'node-1' }), ownNode({ nodeId: 'node-1', generation: 2 })];

it.each(['post 1', 'seen 1'])(
  'a connection is not given up for what is said of the one before: %s',
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

it('a connection is not given up because the one before was found to be over when it was taken off', async () => {
  const { records, overtaken, answer } = start();
  records.keep(OLDER_NODE);
  await answer('post 1', { kind: 'posted' });
  records.drop('node-1', 1);
  records.keep(NODE);
  await answer('post 2', { kind: 'posted' });
  await answer('withdraw 1', NEWER);
  expect([records.get('node-1'), overtaken]).toEqual([NODE, []]);
});

it('a connection is given up for a later one elsewhere, also if that is heard when the one before is taken off', async () => {
  const { records, overtaken, answer } = start();
  records.keep(OLDER_NODE);
  await answer('post 1', { kind: 'posted' });
  records.drop('node-1', 1);
  await answer('withdraw 1', NEWER);
  expect(overtaken).toEqual(['node-1 2']);
});

it('ids that are listed when the store may have lost them are listed again', async () => {
  const { clock, records, answer, asked } = start();
  records.keep(OLDER_NODE);
  await answer('post 1', { kind: 'posted' });
  await clock.advance(ENLIST_MS);
  const round = records.round();
  await clock.advance(0);
  records.tellAgain();
  await answer('enlist', {});
  await round;
  void records.round();
  await answer('post 1', { kind: 'already' });
  expect(asked()).toEqual(['enlist']);
});
