/** Contract of UsageStore: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { CountedJob, StageUsage } from '../../src/domain/usage.ts';
import { MOST_COUNTS, OTHER_LANGUAGES, type UsageStore } from '../../src/ports/usage-store.ts';
import { type Closable, fresh, perTest, times } from './harness.ts';

export interface UsageStoreHarness extends Closable {
  /** On an empty store, with a retention of `RETENTION_DAYS`. */
  readonly store: UsageStore;
  /** Of another instance. */
  readonly other: UsageStore;
  now(): number;
}

export const RETENTION_DAYS = 2;

const HOUR_MS = 3_600_000;
const asr = (audio_ms: number, language = 'zh'): StageUsage => ({
  stage: 'asr',
  language,
  amounts: { results: 1, audio_ms },
});
const nmt = (characters: number, language = 'zh>en'): StageUsage => ({
  stage: 'nmt',
  language,
  amounts: { results: 1, characters },
});
const counted = (at: number, stages: readonly StageUsage[], jobId = fresh('job')): CountedJob => ({
  jobId,
  usage: { at, stages },
});

export function usageStoreContract(name: string, open: () => Promise<UsageStoreHarness>): void {
  describe(`UsageStore: ${name}`, () => {
    const start = perTest(open);
    /** Rows in an order that does not depend on the adapter. */
    async function rowsOf(store: UsageStore, tenantId: string, from: number, to: number) {
      const hours = await store.read(tenantId, { from, to });
      const nameOf = ({ stage, language }: StageUsage) => `${stage} ${language}`;
      return hours.map(({ hour, stages }) => ({
        hour,
        stages: [...stages].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
      }));
    }

    it('adds up what all instances count, per hour, stage and language', async () => {
      const { store, other, now } = await start();
      const tenantId = fresh('tenant');
      const at = Math.floor(now() / HOUR_MS) * HOUR_MS;
      const hour = at / HOUR_MS;
      await store.add(tenantId, [counted(at, [asr(1_500), nmt(20)]), counted(at, [asr(500), nmt(5)])]);
      await other.add(tenantId, [counted(at, [asr(1_000), asr(70, 'de')]), counted(at - HOUR_MS, [nmt(7)])]);
      expect(await rowsOf(store, tenantId, hour - 1, hour + 1)).toEqual([
        { hour: hour - 1, stages: [nmt(7)] },
        {
          hour,
          stages: [
            asr(70, 'de'),
            { stage: 'asr', language: 'zh', amounts: { results: 3, audio_ms: 3_000 } },
            { stage: 'nmt', language: 'zh>en', amounts: { results: 2, characters: 25 } },
          ],
        },
      ]);
    });

    it('counts a job once, however often and wherever it is added', async () => {
      const { store, other, now } = await start();
      const tenantId = fresh('tenant');
      const [one, two] = [counted(now(), [asr(100)]), counted(now(), [asr(10)])];
      await store.add(tenantId, [one]);
      await other.add(tenantId, [one, two]);
      await store.add(tenantId, [two, one, one]);
      const { day } = await store.totals(tenantId, now());
      expect(day).toEqual({ jobs: 2, stages: { asr: { results: 2, audio_ms: 110 } } });
    });

    it('counts a job once among many calls at the same time', async () => {
      const { store, other, now } = await start();
      const tenantId = fresh('tenant');
      const jobs = times(20, () => counted(now(), [nmt(3)]));
      await Promise.all(times(10, (turn) => (turn % 2 === 0 ? store : other).add(tenantId, jobs)));
      expect((await store.totals(tenantId, now())).month).toEqual({
        jobs: 20,
        stages: { nmt: { results: 20, characters: 60 } },
      });
    });

    it('sums up days and months of UTC', async () => {
      const { store } = await start();
      const tenantId = fresh('tenant');
      const [lastOfMay, firstOfJune] = [Date.UTC(2031, 4, 31, 23, 59, 59, 999), Date.UTC(2031, 5, 1)];
      await store.add(tenantId, [counted(lastOfMay, [asr(1)]), counted(firstOfJune, [asr(10)])]);
      await store.add(tenantId, [counted(firstOfJune + 30 * HOUR_MS, [asr(100)])]);
      const sums = await store.totals(tenantId, firstOfJune);
      expect(sums.day.stages.asr?.audio_ms).toBe(10);
      expect(sums.month.stages.asr?.audio_ms).toBe(110);
      expect((await store.totals(tenantId, lastOfMay)).month.stages.asr?.audio_ms).toBe(1);
    });

    it('keeps tenants apart, and lists those that used something (I10)', async () => {
      const { store, other, now } = await start();
      const [one, another] = [fresh('tenant'), fresh('tenant')];
      const same = counted(now(), [asr(5)]);
      await store.add(one, [same]);
      await other.add(another, [same, counted(now(), [asr(2)])]);
      expect((await store.totals(one, now())).day.stages.asr?.audio_ms).toBe(5);
      expect((await store.totals(another, now())).day.stages.asr?.audio_ms).toBe(7);
      const hour = Math.floor(now() / HOUR_MS);
      expect(await store.tenants(hour)).toEqual(expect.arrayContaining([one, another]));
      expect(await store.tenants(hour + 2)).not.toContain(one);
      expect(await store.read(fresh('tenant'), { from: hour - 1, to: hour + 1 })).toEqual([]);
      expect(await store.totals(fresh('tenant'), now())).toEqual({
        day: { jobs: 0, stages: {} },
        month: { jobs: 0, stages: {} },
      });
    });

    it('counts what exceeds the limit of one hour under other languages', async () => {
      const { store, now } = await start();
      const tenantId = fresh('tenant');
      const hour = Math.floor(now() / HOUR_MS);
      const all = times(MOST_COUNTS, (index) => nmt(1, `l${index}>en`));
      for (let from = 0; from < all.length; from += 500)
        await store.add(tenantId, [counted(now(), all.slice(from, from + 500))]);
      const rows = (await rowsOf(store, tenantId, hour - 1, hour + 2)).flatMap(({ stages }) => stages);
      const sum = (of: readonly StageUsage[]) =>
        of.reduce((total, { amounts }) => total + (amounts.characters ?? 0), 0);
      expect(sum(rows)).toBe(MOST_COUNTS);
      expect(rows.length).toBeLessThan(MOST_COUNTS);
      expect(sum(rows.filter(({ language }) => language === OTHER_LANGUAGES))).toBeGreaterThan(0);
    });
  });
}
