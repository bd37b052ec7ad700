/** `npm run survive` as users run it, and the console that it prints the address of. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { findChromium } from '../../../packages/console/test/support/console-world.ts';
import { ensureBuilt } from '../../../packages/scheduler/test/e2e/support/ensure-built.ts';
import { eventually } from '../../src/eventually.ts';

const MAIN = fileURLToPath(new URL('../../dist/survive/main.js', import.meta.url));
const LIMIT_MS = 300_000;

beforeAll(ensureBuilt, 150_000);

it('R1, R5: six people get every caption once, in order, while processes are killed', {
  timeout: LIMIT_MS,
}, async () => {
  const child = spawn(process.execPath, [MAIN, '--rooms', '--seconds', '75']);
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
  await once(child, 'close');
  for (const kind of ['a node', 'the instance', 'the Redis master']) expect(out).toContain(`killed ${kind}`);
  expect(out).toMatch(
    /[1-9]\d* promised captions, lost 0, doubled 0, out of order 0, wrong 0; recognised and not in the log 0/,
  );
  expect(out).not.toContain('without exactly one outcome');
  expect(child.exitCode).toBe(0);
});

it('no utterance is lost while three processes are killed, and the console shows it', {
  timeout: LIMIT_MS,
}, async () => {
  const child = spawn(process.execPath, [MAIN, '--seconds', '30', '--stay']);
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
  await eventually(() => out.includes('until Ctrl-C') || child.exitCode !== null, { withinMs: LIMIT_MS });
  expect(out).toMatch(/killed a node .*one of 4/);
  const [, dead = ''] = /killed the instance (\S+) .*one of 3/.exec(out) ?? [out];
  expect(out).toMatch(/killed the Redis master .*one of 3/);
  expect(out).toMatch(/lost 0, doubled 0, out of order 0/);
  expect(out).toContain('what is left: 2 instances, 3 nodes, 3 Redis masters');

  const [, url = ''] = /console: (\S+)/.exec(out) ?? [];
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${url}#/cluster`);
  await page.getByRole('row', { name: `${dead} died` }).waitFor();

  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
