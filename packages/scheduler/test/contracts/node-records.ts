/** Contract of NodeRecords: its law as tests, for any adapter, with two instances. */
import { describe, expect, it } from 'vitest';
import { ANY } from '../../src/domain/language.ts';
import { type NodeRecords, type RecordVersion, WITHDRAWN_VERSION } from '../../src/ports/node-records.ts';
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
import { nodeRecordFor, typicalProfile } from './node-record-fixtures.ts';
import { nodeRecordsPagesContract } from './node-records-pages.ts';

export interface NodeRecordsHarness extends Timed, Closable {
  readonly here: NodeRecords;
  /** The adapter of another instance on the same store. */
  readonly there: NodeRecords;
}

const LONG_MS = 60_000;
const SHORT_MS = 300;
const AT = 1_700_000_000_000;

export function nodeRecordsContract(
  name: string,
  open: (limits: { forgetAfterMs: number }) => Promise<NodeRecordsHarness>,
): void {
  describe(`NodeRecords: ${name}`, () => {
    const start = perTest(() => open({ forgetAfterMs: LONG_MS }));
    const status = async (
      records: NodeRecords,
      node: Pick<RecordVersion, 'nodeId'> & Partial<RecordVersion>,
    ) => (await records.read([node])).get(node.nodeId);

    describe('records', () => {
      it('are read by other instances completely', async () => {
        const { here, there } = await start();
        const plain = nodeRecordFor();
        const full = nodeRecordFor(
          {
            channel: 'endpoint',
            endpoint: 'http://10.0.0.9:1/ü?a="b"',
            region: 'eu-west\n"1"',
            zone: 'a',
            platform: 'linux ü',
            programVersion: '2.1.0-"rc"',
            intervalMs: 4_321,
          },
          {
            profile: {
              ...typicalProfile,
              installedTypes: ANY,
              asr: ANY,
              tts: [],
              hasGpu: false,
              isLegacy: true,
            },
            health: 'degraded',
            isConnected: false,
            isFresh: false,
            isCalm: false,
            isQueueing: true,
            isCordoned: true,
            orderReason: 'noisy fan\n"4"',
            // As in the record, which has them once.
            region: 'eu-west\n"1"',
            zone: 'a',
            leavingAt: 1_700_000_030_000,
            isEjected: true,
            slots: 0,
            markedServices: ['a b', 'ç\n'],
            markedTypes: ['nmt', 'tone'],
            marksEndAt: [1_700_000_060_000, 1_700_000_070_000, 1_700_000_060_000, 1_700_000_080_000],
          },
        );
        for (const record of [plain, full]) {
          expect(await here.post(record, LONG_MS)).toEqual({ kind: 'posted' });
          expect(await status(there, record)).toMatchObject({
            kind: 'present',
            record: undefined,
            version: 1,
          });
          expect(await status(there, { nodeId: record.nodeId })).toMatchObject({ kind: 'present', record });
        }
      });

      it('share one profile among nodes with equal reports', async () => {
        const { here, there } = await start();
        const records = times(3, () => nodeRecordFor());
        for (const record of records) await here.post(record, LONG_MS);
        const read = await there.read(records.map(({ nodeId }) => ({ nodeId })));
        const profiles = [...read.values()].map((one) => one.kind === 'present' && one.record?.view.profile);
        expect(new Set(profiles).size).toBe(1);
      });

      it('are replaced by later ones only, in any order of arrival', async () => {
        const { here, there } = await start();
        const record = nodeRecordFor({ version: 5 });
        const stale = { kind: 'stale', generation: record.generation, version: 5 };
        await here.post(record, LONG_MS);
        expect(await there.post({ ...record, version: 4 }, LONG_MS)).toEqual(stale);
        const older = { ...record, generation: record.generation - 1, version: 9_000 };
        expect(await there.post(older, LONG_MS)).toEqual(stale);
        expect(await there.seen(older, LONG_MS, AT + 1)).toEqual(stale);
        expect(await there.withdraw(record.nodeId, older.generation)).toEqual(stale);
        expect(await status(here, { nodeId: record.nodeId })).toMatchObject({ record });
        const newer = { ...record, generation: record.generation + 1, version: 1 };
        expect(await there.post(newer, LONG_MS)).toEqual({ kind: 'posted' });
        expect(await here.post({ ...record, version: 6 }, LONG_MS)).toMatchObject({
          kind: 'stale',
          version: 1,
        });
        expect(await status(here, { nodeId: record.nodeId })).toMatchObject({ record: newer });
      });

      it('end as the latest of many concurrent posts', async () => {
        const { here, there } = await start();
        const { nodeId } = nodeRecordFor();
        const records = times(40, (n) =>
          nodeRecordFor({ nodeId, version: ((n * 7) % 40) + 1 }, { slots: (n * 7) % 40 }),
        );
        await Promise.all(records.map((record, n) => (n % 2 === 0 ? here : there).post(record, LONG_MS)));
        expect(await status(here, { nodeId })).toMatchObject({
          version: 40,
          record: { view: { slots: 39 } },
        });
      });

      it('may be posted twice: the first of a version stays', async () => {
        const { here } = await start();
        const record = nodeRecordFor();
        await here.post(record, LONG_MS);
        const other = nodeRecordFor({ nodeId: record.nodeId }, { slots: 99 });
        expect(await here.post(other, LONG_MS)).toEqual({ kind: 'already' });
        expect(await status(here, { nodeId: record.nodeId })).toMatchObject({ record });
      });

      it('are absent for unknown ids', async () => {
        const { here } = await start();
        const record = nodeRecordFor();
        await here.post(record, LONG_MS);
        const unknown = fresh('unknown');
        const read = await here.read([{ nodeId: unknown }, { nodeId: record.nodeId }, { nodeId: unknown }]);
        expect([...read.keys()].sort()).toEqual([unknown, record.nodeId].sort());
        expect(read.get(unknown)).toEqual({ kind: 'absent' });
        expect(await here.read([])).toEqual(new Map());
      });
    });

    describe('presence', () => {
      it('lasts exactly its time, and the record stays as expired', async () => {
        const { here, there, ...timed } = await start();
        const record = nodeRecordFor();
        const begunAt = performance.now();
        await here.post(record, SHORT_MS);
        await timed.advance(SHORT_MS - edgeOf(timed));
        await holdsBefore(timed, begunAt, SHORT_MS, async () => {
          const now = await status(there, record);
          expect(now).toMatchObject({ kind: 'present', seenAt: AT });
          expect(now?.kind === 'present' && now.presentForMs).toBeLessThanOrEqual(edgeOf(timed));
        });
        await timed.advance(edgeOf(timed));
        expect(await status(there, record)).toEqual({ kind: 'expired', generation: record.generation });
      });

      it('is renewed when the node is seen, with the time', async () => {
        const { here, there, ...timed } = await start();
        const record = nodeRecordFor();
        await here.post(record, SHORT_MS);
        expect(await here.seen(record, LONG_MS, AT + 5)).toEqual({ kind: 'seen' });
        await timed.advance(SHORT_MS + edgeOf(timed));
        expect(await status(there, record)).toMatchObject({ kind: 'present', seenAt: AT + 5 });
      });

      it('is not changed by older information', async () => {
        const { here, ...timed } = await start();
        const record = nodeRecordFor();
        await here.post(record, LONG_MS);
        await here.seen(record, LONG_MS, AT + 10);
        expect(await here.seen(record, SHORT_MS, AT + 9)).toEqual({ kind: 'seen' });
        await here.post({ ...record, version: 2 }, SHORT_MS);
        await timed.advance(SHORT_MS + edgeOf(timed));
        expect(await status(here, record)).toMatchObject({ kind: 'present', version: 2, seenAt: AT + 10 });
      });

      it('returns when the node is seen again', async () => {
        const { here, there, ...timed } = await start();
        const record = nodeRecordFor();
        await here.post(record, SHORT_MS);
        await timed.advance(SHORT_MS + edgeOf(timed));
        expect(await here.seen(record, LONG_MS, AT + 1)).toEqual({ kind: 'seen' });
        expect(await status(there, { nodeId: record.nodeId })).toMatchObject({ kind: 'present', record });
      });

      it('is missing without a record', async () => {
        const { here } = await start();
        const record = nodeRecordFor();
        expect(await here.seen(record, LONG_MS, AT)).toEqual({ kind: 'missing' });
        expect(await status(here, record)).toEqual({ kind: 'absent' });
        await here.post(record, LONG_MS);
        expect(await here.seen({ ...record, version: 2 }, LONG_MS, AT)).toEqual({ kind: 'missing' });
        const next = { ...record, generation: record.generation + 1 };
        expect(await here.seen(next, LONG_MS, AT)).toEqual({ kind: 'missing' });
      });

      it('ends before its record, which is kept for an hour', async () => {
        const { here, ...timed } = await start();
        if (!isStepped(timed)) return;
        const record = nodeRecordFor();
        await here.post(record, SHORT_MS);
        await timed.advance(3_599_999);
        expect(await status(here, record)).toMatchObject({ kind: 'expired' });
        await timed.advance(1);
        expect(await status(here, record)).toEqual({ kind: 'absent' });
      });
    });

    describe('withdrawal', () => {
      it('is final for its generation, whatever arrives late', async () => {
        const { here, there } = await start();
        const record = nodeRecordFor();
        const stale = { kind: 'stale', generation: record.generation, version: WITHDRAWN_VERSION };
        await here.post(record, LONG_MS);
        expect(await here.withdraw(record.nodeId, record.generation)).toEqual({ kind: 'withdrawn' });
        expect(await here.withdraw(record.nodeId, record.generation)).toEqual({ kind: 'withdrawn' });
        expect(await here.post({ ...record, version: 2 }, LONG_MS)).toEqual(stale);
        expect(await here.seen(record, LONG_MS, AT + 1)).toEqual(stale);
        const gone = { kind: 'withdrawn', generation: record.generation };
        expect(await status(there, record)).toEqual(gone);
        const next = { ...record, generation: record.generation + 1 };
        expect(await there.post(next, LONG_MS)).toEqual({ kind: 'posted' });
        expect(await status(here, record)).toMatchObject({ kind: 'present', record: next });
      });

      it('also holds for a post that arrives after it', async () => {
        const { here } = await start();
        const record = nodeRecordFor();
        await here.withdraw(record.nodeId, record.generation);
        expect(await here.post(record, LONG_MS)).toMatchObject({ kind: 'stale' });
      });
    });

    describe('notices', () => {
      const listen = async (records: NodeRecords) => {
        const received: RecordVersion[] = [];
        const stop = await records.subscribe((notices) => void received.push(...notices));
        return { received, stop };
      };

      it('report posts, withdrawals and returns, and nothing else', async () => {
        const { here, there, ...timed } = await start();
        const { received } = await listen(there);
        const record = nodeRecordFor();
        const { nodeId, generation } = record;
        const expectLast = (version: number) =>
          eventually(timed, async () => expect(received.at(-1)).toEqual({ nodeId, generation, version }));
        await here.post(record, LONG_MS);
        await expectLast(1);
        await here.post({ ...record, version: 2 }, LONG_MS);
        await expectLast(2);
        const before = received.length;
        await here.post(record, LONG_MS);
        // Last, because a record that expired before the next call would return with a notice.
        await here.seen({ ...record, version: 2 }, SHORT_MS, AT + 1);
        await timed.advance(SHORT_MS + edgeOf(timed));
        expect(received).toHaveLength(before);
        await here.seen({ ...record, version: 2 }, LONG_MS, AT + 2);
        await eventually(timed, async () => expect(received).toHaveLength(before + 1));
        await expectLast(2);
        await here.withdraw(nodeId, generation);
        await expectLast(WITHDRAWN_VERSION);
      });

      it('merge changes in quick succession', async () => {
        const { here, there, ...timed } = await start();
        const batches: number[] = [];
        const named = new Set<string>();
        await there.subscribe((notices) => {
          batches.push(notices.length);
          for (const { nodeId } of notices) named.add(nodeId);
        });
        await Promise.all(times(200, () => here.post(nodeRecordFor(), LONG_MS)));
        await eventually(timed, async () => expect(named.size).toBe(200));
        expect(batches.length).toBeLessThan(100);
      });

      it('reach every subscriber although one throws, and none that stopped', async () => {
        const { here, there, ...timed } = await start();
        await there.subscribe(() => {
          throw new Error('a listener of this test throws');
        });
        const [first, second] = [await listen(there), await listen(there)];
        await first.stop();
        await here.post(nodeRecordFor(), LONG_MS);
        await eventually(timed, async () => expect(second.received).toHaveLength(1));
        expect(first.received).toEqual([]);
      });
    });

    nodeRecordsPagesContract(open);
  });
}
