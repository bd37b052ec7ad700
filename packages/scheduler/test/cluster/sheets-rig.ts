/** The sheets of an instance's own nodes on a board that takes everything, and for how long it was told that nodes are present. */
import { createOwnSheets } from '../../src/cluster/own-sheets.ts';
import type { NodeBoard } from '../../src/ports/node-board.ts';
import { createManualClock } from '../support/manual-clock.ts';

export function openSheets(chance: number) {
  const clock = createManualClock();
  const lives: number[] = [];
  const board = {
    post: async (_: unknown, life: number) => {
      lives.push(life);
      return { kind: 'posted' };
    },
    seen: async (_: unknown, life: number) => {
      lives.push(life);
      return { kind: 'seen' };
    },
  } as unknown as NodeBoard;
  const sheets = createOwnSheets({
    board,
    clock,
    chance: () => chance,
    self: () => ({ instanceId: 'me', incarnation: 'me-1' }),
    isFenced: () => false,
    enlistMs: 30_000,
    onFault(fault) {
      throw fault;
    },
    overtaken() {},
  });
  return { clock, sheets, lives };
}
