/** Reports of clients about translations: counted, and bounded. */
import { describe, expect, it } from 'vitest';
import { createClientReports } from '../../../src/management/stats/client-reports.ts';
import { createManualClock } from '../../support/manual-clock.ts';

function start() {
  const counted: unknown[] = [];
  const clock = createManualClock();
  const meter = { count: (...given: unknown[]) => void counted.push(given) };
  return { clock, counted, reports: createClientReports({ clock, meter }) };
}

describe('reports of clients', () => {
  it('are counted and kept for an hour', async () => {
    const { clock, counted, reports } = start();
    const at = clock.now();
    expect(reports.add('job-1', 'bad_translation', 'not what I said')).toBe(true);
    expect(reports.of('job-1')).toEqual([{ at, kind: 'bad_translation', note: 'not what I said' }]);
    expect(counted).toEqual([['scheduler_client_reports_total', { kind: 'bad_translation' }]]);
    await clock.advance(3_600_001);
    expect(reports.of('job-1')).toEqual([]);
  });

  it('I11: at most five of a job, and of the newest thousand jobs', () => {
    const { reports } = start();
    for (let times = 0; times < 5; times += 1)
      expect(reports.add('job-0', 'bad_translation', undefined)).toBe(true);
    expect(reports.add('job-0', 'bad_translation', undefined)).toBe(false);
    for (let job = 1; job <= 1_000; job += 1) reports.add(`job-${job}`, 'bad_translation', undefined);
    expect(reports.of('job-0')).toEqual([]);
    expect(reports.of('job-1000')).toHaveLength(1);
  });
});
