/** Usage is summed up by what its reader asks for, over hours and tenants, and a reader cannot ask for too much. */
import { expect, it } from 'vitest';
import { createUsageStore } from '../../../src/adapters/memory/usage-store.ts';
import type { StageUsage } from '../../../src/domain/usage.ts';
import { createReadUsage, type UsageGroup } from '../../../src/runtime/usage/read-usage.ts';
import { fresh } from '../../contracts/harness.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 10, 18, 12);

const row = (stage: StageUsage['stage'], language: string, characters: number): StageUsage => ({
  stage,
  language,
  amounts: { results: 1, characters },
});

async function start({ mostRows = 100 } = {}) {
  const store = createUsageStore({ clock: createManualClock(NOON), retentionDays: 400, maxTenants: 10 });
  const add = async (tenantId: string, at: number, ...stages: StageUsage[]) =>
    store.add(tenantId, [{ jobId: fresh('job'), usage: { at, stages } }]);
  await add('acme', NOON, row('nmt', 'zh>en', 10), row('tts', 'en', 7));
  await add('acme', NOON + HOUR_MS, row('nmt', 'zh>en', 5), row('nmt', 'zh>de', 2));
  await add('beta', NOON, row('nmt', 'zh>en', 100));
  let flushed = 0;
  const flush = async (): Promise<void> => {
    flushed += 1;
  };
  const read = createReadUsage({ store, mostRows, flush });
  const sums = async (groupBy: readonly UsageGroup[], tenantId?: string, hours = 2) => {
    const reading = await read({ tenantId, from: NOON, to: NOON + hours * HOUR_MS, groupBy });
    if (reading.kind !== 'usage') return reading;
    return reading.sums.map(({ group, amounts }) => [...Object.values(group), amounts.characters]);
  };
  return { read, sums, flushed: () => flushed };
}

it('sums up by each group, in order', async () => {
  const { sums, flushed } = await start();
  expect(await sums(['tenant'])).toEqual([
    ['acme', 24],
    ['beta', 100],
  ]);
  expect(await sums(['stage', 'language'], 'acme')).toEqual([
    ['nmt', 'zh>de', 2],
    ['nmt', 'zh>en', 15],
    ['tts', 'en', 7],
  ]);
  expect(await sums(['hour'], 'acme')).toEqual([
    ['2026-11-18T12:00:00.000Z', 17],
    ['2026-11-18T13:00:00.000Z', 7],
  ]);
  expect(await sums(['day'])).toEqual([['2026-11-18', 124]]);
  expect(flushed()).toBe(4);
});

it('reads whole hours: the one that begins at the end is not among them', async () => {
  const { read, sums } = await start();
  expect(await sums(['tenant'], 'acme', 1)).toEqual([['acme', 17]]);
  const reading = await read({ tenantId: 'acme', from: NOON + 1, to: NOON + 2, groupBy: ['tenant'] });
  expect(reading).toMatchObject({ from: NOON, to: NOON + HOUR_MS });
});

it('refuses what would read or answer too much', async () => {
  const { sums } = await start({ mostRows: 2 });
  expect(await sums(['stage', 'language'])).toMatchObject({ kind: 'too_much', of: 'rows', most: 2 });
  expect(await sums(['tenant'], undefined, 30_000)).toMatchObject({ kind: 'too_much', of: 'hours' });
});
