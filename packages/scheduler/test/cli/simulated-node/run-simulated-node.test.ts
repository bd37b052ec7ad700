/** The command `lingua simulate`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { startScriptedScheduler, until } from '../../../../sdk/test/node/support/scripted-scheduler.ts';
import { runSimulatedNode } from '../../../src/cli/simulated-node/run-simulated-node.ts';
import { createTerminal } from '../terminal.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-'));
  open.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'behaviour.toml');
  writeFileSync(path, text);
  return path;
}

it('runs a mixed fleet, prints its progress, and ends cleanly', async () => {
  const scheduler = await startScriptedScheduler({ nodeId: (_, count) => `node-${count}` });
  open.push(scheduler.stop);
  const io = createTerminal();
  const behaviour = file('[[mix]]\n[mix.latency]\nkind = "constant"\nms = 1\n[[mix]]\nlegacy = true');
  const exit = runSimulatedNode(
    ['--url', scheduler.url, '--count', '4', '--languages', 'EN, de', '--behaviour', behaviour, '--json'],
    io,
    { progressMs: 20 },
  );
  await until(() => io.lines.some((line) => JSON.parse(line).up === 4));
  expect(scheduler.registrations().filter((register) => register.supports === undefined)).toHaveLength(2);
  expect(scheduler.registrations()[0]?.language_capabilities?.asr_languages).toEqual(['en', 'de']);
  io.interrupt();
  expect(await exit).toBe(0);
  expect(JSON.parse(io.lines.at(-1) ?? '')).toMatchObject({ nodes: 4, up: 0, running: 0, failed: 0 });
  expect(io.errors).toEqual([]);
});

it('prints a readable line', async () => {
  const scheduler = await startScriptedScheduler();
  open.push(scheduler.stop);
  const io = createTerminal();
  const exit = runSimulatedNode(['--url', scheduler.url], io);
  await until(() => io.lines.length === 2);
  io.interrupt();
  expect(await exit).toBe(0);
  expect(io.lines[1]).toBe('nodes 1/1 · running 0 · done 0 · failed 0');
});

it('retries without a scheduler, reports that once, and can be stopped', async () => {
  const scheduler = await startScriptedScheduler();
  await scheduler.stop();
  const io = createTerminal();
  const exit = runSimulatedNode(['--url', scheduler.url, '--count', '3'], io, { progressMs: 10 });
  await until(() => io.lines.length > 3 && io.errors.length > 0);
  io.interrupt();
  expect(await exit).toBe(0);
  expect(io.errors).toEqual([expect.stringMatching(/ECONNREFUSED.*; trying again$/)]);
});

it('reports every wrong option at once and returns 2', async () => {
  const io = createTerminal();
  const argv = [
    '--url',
    'http://x',
    '--count',
    '0',
    '--slots',
    'many',
    '--languages',
    '!',
    '--stages',
    'nmt,singing',
    '--behaviour',
    file('x = 1'),
  ];
  expect(await runSimulatedNode(argv, io)).toBe(2);
  expect(io.errors.map((line) => line.replace(/\S+behaviour\.toml/, 'FILE'))).toEqual([
    'lingua simulate: --count must be a whole number from 1 to 10000',
    'lingua simulate: --slots must be a whole number from 1 to 10000',
    'lingua simulate: --url must start with ws:// or wss://',
    'lingua simulate: --languages must be a list such as en,zh,de',
    'lingua simulate: --stages must be a list of some of asr, semantic, nmt, tts',
    'lingua simulate: FILE: x is unknown',
  ]);
});

it('refuses an unknown option and a missing file', async () => {
  const io = createTerminal();
  expect(await runSimulatedNode(['--speed', '3'], io)).toBe(2);
  expect(await runSimulatedNode(['--behaviour', '/nowhere/at-all'], io)).toBe(2);
  expect(await runSimulatedNode(['--behaviour', '/'], io)).toBe(2);
  expect(await runSimulatedNode(['flaky'], io)).toBe(2);
  expect(io.errors).toEqual([
    'lingua simulate: there is no option --speed; did you mean --seed? (--help lists the options)',
    'lingua simulate: --behaviour /nowhere/at-all is no file and none of the built-in ones: ' +
      'healthy, flaky, crashing, dying, legacy (--help explains the file)',
    expect.stringContaining('--behaviour / cannot be read'),
    'lingua simulate: "flaky" is not expected here (--help lists the options)',
  ]);
});

it('prints its help', async () => {
  const io = createTerminal();
  expect(await runSimulatedNode(['--help'], io)).toBe(0);
  expect(io.lines[0]).toContain('Usage: lingua simulate');
  expect(io.lines[0]).toContain('failure_rate');
});
