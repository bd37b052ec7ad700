/** Refusals of the last ten minutes, by pair and tenant. */
import { describe, expect, it } from 'vitest';
import type { DispatchOutcome, DispatchRequest } from '../../../src/domain/dispatch.ts';
import { createRecentRefusals, noteRefusals } from '../../../src/runtime/queue/recent-refusals.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const MINUTE_MS = 60_000;
const REQUEST = { tenantId: 'acme', spec: { sourceLanguage: 'en', targetLanguage: 'zh', mode: 'one_way' } };

describe('recent refusals', () => {
  it('are counted by pair and by tenant and code, for ten minutes', async () => {
    const clock = createManualClock();
    const refusals = createRecentRefusals({ clock });
    const note = (code: string) =>
      refusals.note({ tenantId: 'acme', directions: [{ source: 'en', target: 'zh' }], code });
    note('NO_CAPABLE_NODE');
    await clock.advance(9 * MINUTE_MS);
    note('RATE_LIMITED');
    note('RATE_LIMITED');
    expect(refusals.pairs()).toEqual([{ source: 'en', target: 'zh', count: 3 }]);
    expect(refusals.tenants()).toEqual([
      { tenantId: 'acme', codes: { NO_CAPABLE_NODE: 1, RATE_LIMITED: 2 } },
    ]);
    await clock.advance(2 * MINUTE_MS);
    expect(refusals.pairs()).toEqual([{ source: 'en', target: 'zh', count: 2 }]);
    await clock.advance(10 * MINUTE_MS);
    expect([refusals.pairs(), refusals.tenants()]).toEqual([[], []]);
  });

  it('I11: invented languages and tenants do not fill the memory', () => {
    const refusals = createRecentRefusals({ clock: createManualClock() });
    for (let at = 0; at < 5_000; at += 1)
      refusals.note({
        tenantId: `t${at}`,
        directions: [{ source: `s${at}`, target: 'zh' }],
        code: 'NO_CAPABLE_NODE',
      });
    refusals.note({ tenantId: 't0', directions: [{ source: 's0', target: 'zh' }], code: 'NO_CAPABLE_NODE' });
    expect([refusals.pairs().length, refusals.tenants().length]).toEqual([1_000, 1_000]);
    expect(refusals.pairs()[0]?.count).toBe(2);
  });

  it('counts by pool what lacked a slot or a node there', async () => {
    const refusals = createRecentRefusals({ clock: createManualClock() });
    const refusedBy = (fullPool: number | undefined) => {
      const outcome = { kind: 'refused', code: 'ALL_CANDIDATES_FULL_OR_FAILED', fullPool };
      return noteRefusals(() => outcome as DispatchOutcome, refusals)(REQUEST as DispatchRequest);
    };
    for (const pool of [7, undefined, 7, 9]) await refusedBy(pool);
    expect(refusals.pools()).toEqual([
      [7, 2],
      [9, 1],
    ]);
  });

  it('counts a two-way request in both directions', async () => {
    const refusals = createRecentRefusals({ clock: createManualClock() });
    const spec = {
      sourceLanguage: 'auto',
      targetLanguage: 'de',
      mode: 'two_way_auto',
      languageA: 'en',
      languageB: 'de',
    };
    const dispatch = noteRefusals(
      () => ({ kind: 'refused', code: 'NO_CAPABLE_NODE' }) as DispatchOutcome,
      refusals,
    );
    await dispatch({ tenantId: 'acme', spec } as DispatchRequest);
    expect(refusals.pairs()).toEqual([
      { source: 'en', target: 'de', count: 1 },
      { source: 'de', target: 'en', count: 1 },
    ]);
  });
});
