/** Contract of NodeRecords: pages list all nodes to an instance that missed every notice. */
import { describe, expect, it } from 'vitest';
import type { NodeRecords } from '../../src/ports/node-records.ts';
import { edgeOf, holdsBefore, perTest, times } from './harness.ts';
import { nodeRecordFor } from './node-record-fixtures.ts';
import type { NodeRecordsHarness } from './node-records.ts';

const LONG_MS = 60_000;
const SHORT_MS = 300;

export function nodeRecordsPagesContract(
  open: (limits: { forgetAfterMs: number }) => Promise<NodeRecordsHarness>,
): void {
  describe('pages', () => {
    const start = perTest(open);

    async function scanAll(records: NodeRecords, max: number, between = async () => {}): Promise<string[]> {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await records.page(cursor, max);
        expect(page.isWhole).toBe(true);
        expect(page.nodeIds.length).toBeLessThanOrEqual(max);
        found.push(...page.nodeIds);
        cursor = page.cursor;
        await between();
      } while (cursor !== undefined);
      return found;
    }

    it('contain every posted id once per scan, in bounded pages', async () => {
      const { here, there } = await start({ forgetAfterMs: LONG_MS });
      const records = times(60, () => nodeRecordFor());
      await Promise.all(records.map((record) => here.post(record, LONG_MS)));
      for (const max of [1, 3, 500]) {
        expect((await scanAll(there, max)).sort()).toEqual(records.map(({ nodeId }) => nodeId).sort());
      }
    });

    it('include ids that are enlisted again during the scan', async () => {
      const { here, there } = await start({ forgetAfterMs: LONG_MS });
      const ids = times(40, () => nodeRecordFor().nodeId);
      await here.enlist(ids);
      let turn = 0;
      const found = await scanAll(there, 2, async () => {
        turn += 1;
        if (turn <= 40) await here.enlist([ids[(turn * 17) % 40] as string]);
      });
      expect([...new Set(found)].sort()).toEqual([...ids].sort());
    });

    it('are empty without records', async () => {
      const { here } = await start({ forgetAfterMs: LONG_MS });
      await here.enlist([]);
      expect(await scanAll(here, 10)).toEqual([]);
    });

    it('drop ids that are neither posted nor enlisted, not their records', async () => {
      const { here, there, ...timed } = await start({ forgetAfterMs: 2 * SHORT_MS });
      const [silent, enlisted] = [nodeRecordFor(), nodeRecordFor()];
      await here.post(silent, LONG_MS);
      await here.post(enlisted, LONG_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      const enlistedAt = performance.now();
      await here.enlist([enlisted.nodeId]);
      await timed.advance(SHORT_MS);
      await holdsBefore(timed, enlistedAt, 2 * SHORT_MS, async () =>
        expect(await scanAll(there, 10)).toEqual([enlisted.nodeId]),
      );
      expect((await there.read([{ nodeId: silent.nodeId }])).get(silent.nodeId)?.kind).toBe('present');
      const both = [silent.nodeId, enlisted.nodeId].sort();
      const againAt = performance.now();
      await here.enlist(both);
      await holdsBefore(timed, againAt, 2 * SHORT_MS, async () =>
        expect((await scanAll(there, 10)).sort()).toEqual(both),
      );
    });
  });
}
