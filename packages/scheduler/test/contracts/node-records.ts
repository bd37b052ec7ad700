/** Contract of NodeBoard: its law as tests, for any adapter, seen by two instances. */
import { describe, expect, it } from 'vitest';
import { ANY } from '../../src/domain/language.ts';
import { type NodeBoard, type SheetVersion, WITHDRAWN_VERSION } from '../../src/ports/node-records.ts';
import {
  type Closable,
  edgeOf,
  eventually,
  fresh,
  holdsBefore,
  isStepped,
  perTest,
  type Timed,
  times,
} from './harness.ts';
import { nodeBoardPagesContract } from './node-records-pages.ts';
import { sheetFor, typicalProfile } from './node-sheets.ts';

export interface NodeBoardHarness extends Timed, Closable {
  readonly here: NodeBoard;
  /** Of another instance on the same store. */
  readonly there: NodeBoard;
}

const LONG_MS = 60_000;
const SHORT_MS = 300;
const AT = 1_700_000_000_000;

export function nodeRecordsContract(
  name: string,
  open: (limits: { forgetAfterMs: number }) => Promise<NodeBoardHarness>,
): void {
  describe(`NodeBoard: ${name}`, () => {
    const start = perTest(() => open({ forgetAfterMs: LONG_MS }));
    const standing = async (board: NodeBoard, asked: Pick<SheetVersion, 'nodeId'> & Partial<SheetVersion>) =>
      (await board.read([asked])).get(asked.nodeId);

    describe('sheets', () => {
      it('are read elsewhere with everything that was said', async () => {
        const { here, there } = await start();
        const plain = sheetFor();
        const full = sheetFor(
          {
            channel: 'endpoint',
            endpoint: 'http://10.0.0.9:1/ü?a="b"',
            region: 'eu-west\n"1"',
            intervalMs: 4_321,
          },
          {
            profile: {
              ...typicalProfile,
              installedTypes: ANY,
              asr: ANY,
              tts: [],
              hasGpu: false,
              isDeployed: true,
            },
            health: 'degraded',
            isFresh: false,
            isCalm: false,
            isQueueing: true,
            isCordoned: true,
            isEjected: true,
            slots: 0,
            markedServices: ['a b', 'ç\n'],
            markedTypes: ['nmt', 'tone'],
          },
        );
        for (const sheet of [plain, full]) {
          expect(await here.post(sheet, LONG_MS)).toEqual({ kind: 'posted' });
          expect(await standing(there, sheet)).toMatchObject({
            kind: 'present',
            sheet: undefined,
            version: 1,
          });
          expect(await standing(there, { nodeId: sheet.nodeId })).toMatchObject({ kind: 'present', sheet });
        }
      });

      it('share one profile among nodes that say the same', async () => {
        const { here, there } = await start();
        const sheets = times(3, () => sheetFor());
        for (const sheet of sheets) await here.post(sheet, LONG_MS);
        const read = await there.read(sheets.map(({ nodeId }) => ({ nodeId })));
        const profiles = [...read.values()].map((one) => one.kind === 'present' && one.sheet?.view.profile);
        expect(new Set(profiles).size).toBe(1);
      });

      it('give way to later ones only, in whatever order they arrive', async () => {
        const { here, there } = await start();
        const sheet = sheetFor({ version: 5 });
        const stale = { kind: 'stale', generation: sheet.generation, version: 5 };
        await here.post(sheet, LONG_MS);
        expect(await there.post({ ...sheet, version: 4 }, LONG_MS)).toEqual(stale);
        const older = { ...sheet, generation: sheet.generation - 1, version: 9_000 };
        expect(await there.post(older, LONG_MS)).toEqual(stale);
        expect(await there.seen(older, LONG_MS, AT + 1)).toEqual(stale);
        expect(await there.withdraw(sheet.nodeId, older.generation)).toEqual(stale);
        expect(await standing(here, { nodeId: sheet.nodeId })).toMatchObject({ sheet });
        const newer = { ...sheet, generation: sheet.generation + 1, version: 1 };
        expect(await there.post(newer, LONG_MS)).toEqual({ kind: 'posted' });
        expect(await here.post({ ...sheet, version: 6 }, LONG_MS)).toMatchObject({
          kind: 'stale',
          version: 1,
        });
        expect(await standing(here, { nodeId: sheet.nodeId })).toMatchObject({ sheet: newer });
      });

      it('end as the latest of many that are posted at once', async () => {
        const { here, there } = await start();
        const { nodeId } = sheetFor();
        const sheets = times(40, (n) =>
          sheetFor({ nodeId, version: ((n * 7) % 40) + 1 }, { slots: (n * 7) % 40 }),
        );
        await Promise.all(sheets.map((sheet, n) => (n % 2 === 0 ? here : there).post(sheet, LONG_MS)));
        expect(await standing(here, { nodeId })).toMatchObject({
          version: 40,
          sheet: { view: { slots: 39 } },
        });
      });

      it('may be posted twice: the first of a version stays', async () => {
        const { here } = await start();
        const sheet = sheetFor();
        await here.post(sheet, LONG_MS);
        const other = sheetFor({ nodeId: sheet.nodeId }, { slots: 99 });
        expect(await here.post(other, LONG_MS)).toEqual({ kind: 'already' });
        expect(await standing(here, { nodeId: sheet.nodeId })).toMatchObject({ sheet });
      });

      it('are absent for ids nobody posted, in the company of others', async () => {
        const { here } = await start();
        const sheet = sheetFor();
        await here.post(sheet, LONG_MS);
        const nobody = fresh('nobody');
        const read = await here.read([{ nodeId: nobody }, { nodeId: sheet.nodeId }, { nodeId: nobody }]);
        expect([...read.keys()].sort()).toEqual([nobody, sheet.nodeId].sort());
        expect(read.get(nobody)).toEqual({ kind: 'absent' });
        expect(await here.read([])).toEqual(new Map());
      });
    });

    describe('presence', () => {
      it('lasts its time to the edge, and leaves the sheet to be told from one that is lost', async () => {
        const { here, there, ...timed } = await start();
        const sheet = sheetFor();
        const begunAt = performance.now();
        await here.post(sheet, SHORT_MS);
        await timed.advance(SHORT_MS - edgeOf(timed));
        await holdsBefore(timed, begunAt, SHORT_MS, async () => {
          const now = await standing(there, sheet);
          expect(now).toMatchObject({ kind: 'present', seenAt: AT });
          expect(now?.kind === 'present' && now.presentForMs).toBeLessThanOrEqual(edgeOf(timed));
        });
        await timed.advance(edgeOf(timed));
        expect(await standing(there, sheet)).toEqual({ kind: 'expired', generation: sheet.generation });
      });

      it('is renewed by being seen, and says when', async () => {
        const { here, there, ...timed } = await start();
        const sheet = sheetFor();
        await here.post(sheet, SHORT_MS);
        expect(await here.seen(sheet, LONG_MS, AT + 5)).toEqual({ kind: 'seen' });
        await timed.advance(SHORT_MS + edgeOf(timed));
        expect(await standing(there, sheet)).toMatchObject({ kind: 'present', seenAt: AT + 5 });
      });

      it('is changed by no older news, be it seen or posted', async () => {
        const { here, ...timed } = await start();
        const sheet = sheetFor();
        await here.post(sheet, LONG_MS);
        await here.seen(sheet, LONG_MS, AT + 10);
        expect(await here.seen(sheet, SHORT_MS, AT + 9)).toEqual({ kind: 'seen' });
        await here.post({ ...sheet, version: 2 }, SHORT_MS);
        await timed.advance(SHORT_MS + edgeOf(timed));
        expect(await standing(here, sheet)).toMatchObject({ kind: 'present', version: 2, seenAt: AT + 10 });
      });

      it('returns when the node is seen again after its time', async () => {
        const { here, there, ...timed } = await start();
        const sheet = sheetFor();
        await here.post(sheet, SHORT_MS);
        await timed.advance(SHORT_MS + edgeOf(timed));
        expect(await here.seen(sheet, LONG_MS, AT + 1)).toEqual({ kind: 'seen' });
        expect(await standing(there, { nodeId: sheet.nodeId })).toMatchObject({ kind: 'present', sheet });
      });

      it('is not made of nothing: what was never posted, or was lost, is missing', async () => {
        const { here } = await start();
        const sheet = sheetFor();
        expect(await here.seen(sheet, LONG_MS, AT)).toEqual({ kind: 'missing' });
        expect(await standing(here, sheet)).toEqual({ kind: 'absent' });
        await here.post(sheet, LONG_MS);
        expect(await here.seen({ ...sheet, version: 2 }, LONG_MS, AT)).toEqual({ kind: 'missing' });
        const next = { ...sheet, generation: sheet.generation + 1 };
        expect(await here.seen(next, LONG_MS, AT)).toEqual({ kind: 'missing' });
      });

      it('outlasted by its sheet for an hour, not for ever', async () => {
        const { here, ...timed } = await start();
        if (!isStepped(timed)) return;
        const sheet = sheetFor();
        await here.post(sheet, SHORT_MS);
        await timed.advance(3_599_999);
        expect(await standing(here, sheet)).toMatchObject({ kind: 'expired' });
        await timed.advance(1);
        expect(await standing(here, sheet)).toEqual({ kind: 'absent' });
      });
    });

    describe('withdrawal', () => {
      it('is final for its generation, whatever arrives of it late', async () => {
        const { here, there } = await start();
        const sheet = sheetFor();
        const stale = { kind: 'stale', generation: sheet.generation, version: WITHDRAWN_VERSION };
        await here.post(sheet, LONG_MS);
        expect(await here.withdraw(sheet.nodeId, sheet.generation)).toEqual({ kind: 'withdrawn' });
        expect(await here.withdraw(sheet.nodeId, sheet.generation)).toEqual({ kind: 'withdrawn' });
        expect(await here.post({ ...sheet, version: 2 }, LONG_MS)).toEqual(stale);
        expect(await here.seen(sheet, LONG_MS, AT + 1)).toEqual(stale);
        const gone = { kind: 'withdrawn', generation: sheet.generation };
        expect(await standing(there, sheet)).toEqual(gone);
        const next = { ...sheet, generation: sheet.generation + 1 };
        expect(await there.post(next, LONG_MS)).toEqual({ kind: 'posted' });
        expect(await standing(here, sheet)).toMatchObject({ kind: 'present', sheet: next });
      });

      it('holds also for a post it overtook', async () => {
        const { here } = await start();
        const sheet = sheetFor();
        await here.withdraw(sheet.nodeId, sheet.generation);
        expect(await here.post(sheet, LONG_MS)).toMatchObject({ kind: 'stale' });
      });
    });

    describe('notices', () => {
      const listen = async (board: NodeBoard) => {
        const heard: SheetVersion[] = [];
        const stop = await board.subscribe((notices) => void heard.push(...notices));
        return { heard, stop };
      };

      it('tell another instance of posts, withdrawals and returns, and of nothing else', async () => {
        const { here, there, ...timed } = await start();
        const { heard } = await listen(there);
        const sheet = sheetFor();
        const { nodeId, generation } = sheet;
        const expectLast = (version: number) =>
          eventually(timed, async () => expect(heard.at(-1)).toEqual({ nodeId, generation, version }));
        await here.post(sheet, SHORT_MS);
        await expectLast(1);
        await here.post({ ...sheet, version: 2 }, SHORT_MS);
        await expectLast(2);
        const before = heard.length;
        await here.seen({ ...sheet, version: 2 }, SHORT_MS, AT + 1);
        await here.post(sheet, SHORT_MS);
        await timed.advance(SHORT_MS + edgeOf(timed));
        expect(heard).toHaveLength(before);
        await here.seen({ ...sheet, version: 2 }, LONG_MS, AT + 2);
        await eventually(timed, async () => expect(heard).toHaveLength(before + 1));
        await expectLast(2);
        await here.withdraw(nodeId, generation);
        await expectLast(WITHDRAWN_VERSION);
      });

      it('come together for changes in quick succession', async () => {
        const { here, there, ...timed } = await start();
        const batches: number[] = [];
        const named = new Set<string>();
        await there.subscribe((notices) => {
          batches.push(notices.length);
          for (const { nodeId } of notices) named.add(nodeId);
        });
        await Promise.all(times(200, () => here.post(sheetFor(), LONG_MS)));
        await eventually(timed, async () => expect(named.size).toBe(200));
        expect(batches.length).toBeLessThan(100);
      });

      it('reach every listener though one of them throws, and none that has stopped', async () => {
        const { here, there, ...timed } = await start();
        await there.subscribe(() => {
          throw new Error('a listener of this test throws');
        });
        const [first, second] = [await listen(there), await listen(there)];
        await first.stop();
        await here.post(sheetFor(), LONG_MS);
        await eventually(timed, async () => expect(second.heard).toHaveLength(1));
        expect(first.heard).toEqual([]);
      });
    });

    nodeBoardPagesContract(open);
  });
}
