/** Contract of NodeBoard, the part about pages: whoever missed every notice finds all nodes by them. */
import { describe, expect, it } from 'vitest';
import type { NodeRecords } from '../../src/ports/node-records.ts';
import { edgeOf, holdsBefore, perTest, times } from './harness.ts';
import type { NodeBoardHarness } from './node-records.ts';
import { sheetFor } from './node-sheets.ts';

const LONG_MS = 60_000;
const SHORT_MS = 300;

export function nodeBoardPagesContract(
  open: (limits: { forgetAfterMs: number }) => Promise<NodeBoardHarness>,
): void {
  describe('pages', () => {
    const start = perTest(open);

    async function round(board: NodeRecords, max: number, between = async () => {}): Promise<string[]> {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await board.page(cursor, max);
        expect(page.isWhole).toBe(true);
        expect(page.nodeIds.length).toBeLessThanOrEqual(max);
        found.push(...page.nodeIds);
        cursor = page.cursor;
        await between();
      } while (cursor !== undefined);
      return found;
    }

    it('contain every posted id once per round, in bounded pages', async () => {
      const { here, there } = await start({ forgetAfterMs: LONG_MS });
      const records = times(60, () => sheetFor());
      await Promise.all(records.map((record) => here.post(record, LONG_MS)));
      for (const max of [1, 3, 500]) {
        expect((await round(there, max)).sort()).toEqual(records.map(({ nodeId }) => nodeId).sort());
      }
    });

    it('include ids that are enlisted again meanwhile', async () => {
      const { here, there } = await start({ forgetAfterMs: LONG_MS });
      const ids = times(40, () => sheetFor().nodeId);
      await here.enlist(ids);
      let turn = 0;
      const found = await round(there, 2, async () => {
        turn += 1;
        if (turn <= 40) await here.enlist([ids[(turn * 17) % 40] as string]);
      });
      expect([...new Set(found)].sort()).toEqual([...ids].sort());
    });

    it('are empty without records', async () => {
      const { here } = await start({ forgetAfterMs: LONG_MS });
      await here.enlist([]);
      expect(await round(here, 10)).toEqual([]);
    });

    it('drop ids that are neither posted nor enlisted, not their records', async () => {
      const { here, there, ...timed } = await start({ forgetAfterMs: 2 * SHORT_MS });
      const [silent, enlisted] = [sheetFor(), sheetFor()];
      await here.post(silent, LONG_MS);
      await here.post(enlisted, LONG_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      const enlistedAt = performance.now();
      await here.enlist([enlisted.nodeId]);
      await timed.advance(SHORT_MS);
      await holdsBefore(timed, enlistedAt, 2 * SHORT_MS, async () =>
        expect(await round(there, 10)).toEqual([enlisted.nodeId]),
      );
      expect((await there.read([{ nodeId: silent.nodeId }])).get(silent.nodeId)?.kind).toBe('present');
      const both = [silent.nodeId, enlisted.nodeId].sort();
      const againAt = performance.now();
      await here.enlist(both);
      await holdsBefore(timed, againAt, 2 * SHORT_MS, async () =>
        expect((await round(there, 10)).sort()).toEqual(both),
      );
    });
  });
}
