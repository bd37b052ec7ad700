/** The fuzz against a process of its own, whose memory must not keep growing. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../../../packages/scheduler/test/e2e/support/ensure-built.ts';
import type { FuzzReport } from '../../src/fuzz/run-fuzz.ts';

const MAIN = fileURLToPath(new URL('../../dist/fuzz/main.js', import.meta.url));
const RUN_MS = 600_000;

beforeAll(ensureBuilt, 150_000);

it('the memory of a fuzzed process does not keep growing', { timeout: RUN_MS }, async () => {
  const flags = ['--json', '--frames', '60000', '--requests', '6000', '--seed', '7'];
  const run = promisify(execFile)(process.execPath, [MAIN, ...flags]);
  const { stdout } = await run.catch((fault: { readonly stdout: string }) => fault);
  const { problems, memory } = JSON.parse(stdout) as FuzzReport;
  expect(problems).toEqual([]);
  const atRest = memory?.filter(({ isAtRest }) => isAtRest) ?? [];
  expect(atRest).toHaveLength(3);
  for (const { heap } of atRest) expect(heap).toBeGreaterThan(0);
});
