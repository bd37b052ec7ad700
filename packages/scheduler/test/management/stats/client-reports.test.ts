/** Reports of clients about translations: counted, and bounded. */
import { describe, expect, it } from 'vitest';
import { createClientReports } from '../../../src/management/stats/client-reports.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const jobOf = (jobId: string, sessionId = 'room-1', tenantId = 'acme') => ({ jobId, sessionId, tenantId });

function start(storesTexts = true) {
  const counted: unknown[] = [];
  const clock = createManualClock();
  const meter = { count: (...given: unknown[]) => void counted.push(given) };
  return { clock, counted, reports: createClientReports({ clock, meter, tenantShare: 1, storesTexts }) };
}

describe('reports of clients', () => {
  it('are counted and kept for an hour', async () => {
    const { clock, counted, reports } = start();
    const at = clock.now();
    expect(reports.add(jobOf('job-1'), 'bad_translation', 'not what I said')).toBe(true);
    expect(reports.of('job-1')).toEqual([{ at, kind: 'bad_translation', note: 'not what I said' }]);
    expect(counted).toEqual([['scheduler_client_reports_total', { kind: 'bad_translation' }]]);
    await clock.advance(3_600_001);
    expect(reports.of('job-1')).toEqual([]);
  });

  it('I11: at most five of a job, and of the newest thousand jobs', () => {
    const { reports } = start();
    for (let times = 0; times < 5; times += 1)
      expect(reports.add(jobOf('job-0'), 'bad_translation', undefined)).toBe(true);
    expect(reports.add(jobOf('job-0'), 'bad_translation', undefined)).toBe(false);
    for (let job = 1; job <= 1_000; job += 1) reports.add(jobOf(`job-${job}`), 'bad_translation', undefined);
    expect(reports.of('job-0')).toEqual([]);
    expect(reports.of('job-1000')).toHaveLength(1);
  });

  it('are erased with their job or session, for their tenant only', () => {
    const { reports } = start();
    for (const job of [
      jobOf('one'),
      jobOf('two', 'room-2'),
      jobOf('three', 'room-2'),
      jobOf('four', 'room-2', 'globex'),
    ])
      reports.add(job, 'bad_translation', 'said');
    const left = () => ['one', 'two', 'three', 'four'].filter((jobId) => reports.of(jobId).length > 0);
    expect(reports.erase({ jobId: 'one', sessionId: 'room-1', tenantId: 'globex' })).toBe(0);
    expect(reports.erase({ jobId: 'one', sessionId: 'room-1', tenantId: 'acme' })).toBe(1);
    expect(left()).toEqual(['two', 'three', 'four']);
    expect(reports.erase({ sessionId: 'room-2', tenantId: 'acme' })).toBe(2);
    expect(left()).toEqual(['four']);
    expect(reports.erase({ sessionId: 'room-2' })).toBe(1);
  });

  it('have no note where texts are not stored', () => {
    const { reports } = start(false);
    reports.add(jobOf('one'), 'bad_translation', 'said');
    expect(reports.of('one')).toMatchObject([{ kind: 'bad_translation', note: undefined }]);
  });
});
