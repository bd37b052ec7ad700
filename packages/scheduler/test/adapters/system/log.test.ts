/** The two forms of log lines: for machines and for people. Their contract is in test/contracts/log.ts. */
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/adapters/system/log.ts';

function capture(isPretty: boolean) {
  const lines: string[] = [];
  const log = createLog('info', { isPretty, destination: { write: (line) => lines.push(line) } });
  return { log, lines };
}

describe('log', () => {
  it('is one JSON object per line', () => {
    const { log, lines } = capture(false);
    log.info({ job_id: 'job-1', reason: 'JOB_TIMEOUT' }, 'a job failed');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', job_id: 'job-1', msg: 'a job failed' });
  });

  it('is one readable line with log.pretty', () => {
    const { log, lines } = capture(true);
    log.warn({ job_id: 'job-1', nodes: 2 }, 'jobs were left');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} warn {2}jobs were left {3}job_id=job-1 nodes=2\n$/);
  });
});
