/** The soak as users run it, for seconds: it samples, comes to rest, and reports as JSON and as a page. Slopes of seconds prove nothing. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../../packages/scheduler/test/e2e/support/ensure-built.ts';
import type { SoakReport } from '../../src/soak/judge/judge-soak.ts';

beforeAll(ensureBuilt, 150_000);

const SOAK = fileURLToPath(new URL('../../dist/soak/main.js', import.meta.url));
const SECONDS = 12;

function soak(
  args: readonly string[],
  env = process.env,
): Promise<{ readonly code: number; readonly text: string; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SOAK, ...args], { maxBuffer: 1 << 26, env }, (fault, stdout, stderr) =>
      resolve({ code: Number(fault?.code ?? 0), text: stdout, output: stderr }),
    );
  });
}

describe('the soak', () => {
  it('watches two instances on its own Redis and finds all levels as before', {
    timeout: 240_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'soak-test-'));
    const htmlPath = join(folder, 'soak.html');
    try {
      const { text, output } = await soak([
        '--minutes',
        String(SECONDS / 60),
        '--seed',
        '6',
        '--json',
        '--html',
        htmlPath,
      ]);
      if (text === '') throw new Error(output);
      const report = JSON.parse(text) as SoakReport;
      expect(report.left).toEqual([]);
      expect(report.samples).toBeGreaterThan(1);
      const found = new Map(report.series.map((each) => [`${each.group}: ${each.name}`, each.points]));
      for (const name of [
        'instance 1: live heap without code',
        'instance 2: resident memory',
        'instance 2: handles',
        'Redis: keys',
        'Redis: messages in inboxes',
        'Redis, keys by kind: job',
        'Levels, all instances: scheduler_jobs_inflight',
        'Levels, all instances: scheduler_sessions',
      ])
        expect(found.get(name)?.length, name).toBeGreaterThan(0);
      expect(found.get('instance 1: live heap without code')?.every(({ value }) => value > 5)).toBe(true);
      expect([...found.keys()].join()).not.toContain('not in the list of keys');
      expect(report.work.results).toBeGreaterThan(0);
      expect(report.work.sessions).toBeGreaterThan(3);
      const page = readFileSync(htmlPath, 'utf8');
      expect(page).toContain('live heap without code');
      expect(page).toContain('</html>');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('reports that the machine has no Redis', async () => {
    const { code, output } = await soak([], { ...process.env, PATH: '/nowhere' });
    expect(code).toBe(2);
    expect(output).toContain('there is no redis-server on this machine');
    expect(output).toContain('--instances 1');
  });
});
