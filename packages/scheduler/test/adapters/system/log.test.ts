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

  it.each([
    ['a line', 'x\n12:00:00.000 error forged', '"x\\n12:00:00.000 error forged"'],
    ['a field', 'x level=error', '"x level=error"'],
    ['a colour', '\u001b[31mred', '\\u{1b}[31mred'],
    ['a C1 control', 'a\u009b31m', 'a\\u{9b}31m'],
    ['the direction of text', 'a\u202eb\u2066c', 'a\\u{202e}b\\u{2066}c'],
    ['nothing visible', 'a\u200bb\ufeff', '"a\\u{200b}b\\u{feff}"'],
    ['a separator', 'a\u2028b', '"a\\u{2028}b"'],
  ])('a value cannot forge %s with log.pretty', (_what, value, printed) => {
    const { log, lines } = capture(true);
    log.warn({ node_id: value, nested: { text: value } }, `a reason: ${value}`);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`node_id=${printed}`);
    expect(lines[0]?.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  it('a value in another script stays readable with log.pretty', () => {
    const { log, lines } = capture(true);
    log.warn({ name: 'сервер-服务器-🎤' }, 'named');
    expect(lines[0]).toContain('name=сервер-服务器-🎤');
  });
});
