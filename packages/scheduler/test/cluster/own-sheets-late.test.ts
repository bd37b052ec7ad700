/** Answers of the board that come late: the node may have connected here anew meanwhile, and they say nothing of that connection. */
import { expect, it } from 'vitest';
import { createOwnSheets } from '../../src/cluster/own-sheets.ts';
import type { NodeBoard } from '../../src/ports/node-board.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { ownNode } from './replica-rig.ts';

const ENLIST_MS = 30_000;
const NEWER = { kind: 'stale', generation: 2, version: 1 } as const;

/** Every question waits until the test answers it. */
function start() {
  const clock = createManualClock();
  const asked: { what: string; answer: (how: object) => void }[] = [];
  const overtaken: string[] = [];
  const ask = (what: string) =>
    new Promise<never>((resolve) => asked.push({ what, answer: (how) => resolve(how as never) }));
  const board = {
    post: ({ generation }) => ask(`post ${generation}`),
    seen: ({ generation }) => ask(`seen ${generation}`),
    withdraw: (_, generation) => ask(`withdraw ${generation}`),
    enlist: () => ask('enlist'),
  } as Partial<NodeBoard> as NodeBoard;
  const sheets = createOwnSheets({
    board,
    clock,
    chance: () => 0.5,
    self: () => ({ instanceId: 'me', incarnation: 'me-1' }),
    isFenced: () => false,
    enlistMs: ENLIST_MS,
    onFault(fault) {
      throw fault;
    },
    overtaken: (nodeId, generation) => overtaken.push(`${nodeId} ${generation}`),
  });
  async function answer(what: string, how: object): Promise<void> {
    const at = asked.findIndex((question) => question.what === what);
    if (at < 0) throw new Error(`nobody asked: ${what}`);
    asked.splice(at, 1)[0]?.answer(how);
    await clock.advance(0);
  }
  return { clock, sheets, overtaken, answer, asked: () => asked.map(({ what }) => what) };
}

const [OLDER_NODE, NODE] = [ownNode({ nodeId: 'node-1' }), ownNode({ nodeId: 'node-1', generation: 2 })];

it.each(['post 1', 'seen 1'])(
  'a connection is not given up for what is said of the one before: %s',
  async (late) => {
    const { clock, sheets, overtaken, answer } = start();
    sheets.keep(OLDER_NODE);
    if (late === 'seen 1') {
      await answer('post 1', { kind: 'posted' });
      sheets.beat('node-1', clock.now());
    }
    sheets.keep(NODE);
    await answer('post 2', { kind: 'posted' });
    await answer(late, NEWER);
    expect([sheets.get('node-1'), overtaken]).toEqual([NODE, []]);
  },
);

it('a connection is not given up because the one before was found to be over when it was taken off', async () => {
  const { sheets, overtaken, answer } = start();
  sheets.keep(OLDER_NODE);
  await answer('post 1', { kind: 'posted' });
  sheets.drop('node-1', 1);
  sheets.keep(NODE);
  await answer('post 2', { kind: 'posted' });
  await answer('withdraw 1', NEWER);
  expect([sheets.get('node-1'), overtaken]).toEqual([NODE, []]);
});

it('a connection is given up for a later one elsewhere, also if that is heard when the one before is taken off', async () => {
  const { sheets, overtaken, answer } = start();
  sheets.keep(OLDER_NODE);
  await answer('post 1', { kind: 'posted' });
  sheets.drop('node-1', 1);
  await answer('withdraw 1', NEWER);
  expect(overtaken).toEqual(['node-1 2']);
});

it('ids that are listed when the store may have lost them are listed again', async () => {
  const { clock, sheets, answer, asked } = start();
  sheets.keep(OLDER_NODE);
  await answer('post 1', { kind: 'posted' });
  await clock.advance(ENLIST_MS);
  const round = sheets.round();
  await clock.advance(0);
  sheets.tellAgain();
  await answer('enlist', {});
  await round;
  void sheets.round();
  await answer('post 1', { kind: 'already' });
  expect(asked()).toEqual(['enlist']);
});
