/** Commands that cannot run report it in one line before they start: the wrong flag, and what to do. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BENCH, ensureBuilt } from '../../packages/scheduler/test/e2e/support/ensure-built.ts';
import { readOptions } from '../src/simulate/read-options.ts';

beforeAll(ensureBuilt, 150_000);

const folder = mkdtempSync(join(tmpdir(), 'lingua-wrong-'));
afterAll(() => rmSync(folder, { recursive: true }));
const NOWHERE = join(folder, 'no-such-folder', 'file');
const NO_HISTORY = join(folder, 'no-history');
writeFileSync(NO_HISTORY, 'hello\n');

const [EMPTY, IDLE] = [join(folder, 'empty'), join(folder, 'idle')];
writeFileSync(EMPTY, '');
writeFileSync(IDLE, '{"at":1,"kind":"quiet"}\n');

const mainOf = (name: string): string =>
  name === 'bench'
    ? BENCH
    : fileURLToPath(new URL(`../dist/${name === 'attack' ? 'attacks' : name}/main.js`, import.meta.url));

/** With an empty `path`: on a machine with no program except Node.js. */
const run = (name: string, args: readonly string[], path = process.env.PATH) =>
  new Promise<{ code: unknown; out: string; output: string }>((resolve) => {
    const options = { env: { ...process.env, PATH: path } };
    execFile(process.execPath, [mainOf(name), ...args], options, (fault, out, output) =>
      resolve({ code: fault?.code ?? 0, out, output }),
    );
  });

describe('a command that cannot run', () => {
  it.each([
    [['--sead', '1'], '--sead'],
    [['--seed'], "'--seed"],
    [['--jobs', 'many'], '--jobs'],
    [['--faults', 'meteor'], '--faults'],
    [['--durability', 'paper'], '--durability'],
    [['--durability', 'replica', '--instances', '1'], '--durability'],
    [['--seed', 'x', '--seeds', '2'], '--seed'],
    [['word'], '"word"'],
  ])('simulate %j has its own message', (argv, flag) => {
    const output = readOptions(argv);
    expect(output).toContain(flag);
    expect(output).not.toContain('\n');
  });

  // Each case is a process, which is slow: what the pure readers refuse is tested beside them.
  it.each([
    ['simulate', ['--seed', '--json'], '--seed'],
    ['simulate', ['--history', NOWHERE], '--history'],
    ['mutants', ['--sead', '1'], '--sead'],
    ['mutants', ['--seeds'], '--seeds'],
    ['mutants', ['--only', 'meteor'], '--only'],
    ['attack', ['--only', 'meteor'], '--only'],
    ['conformance', [], '--sdk'],
    ['conformance', ['--sdk', 'true', '--only', 'meteor'], '--only'],
    ['attack', ['--mode', 'paper'], '--mode'],
    ['soak', ['--instances', '1', '--html', NOWHERE], '--html'],
    ['chaos', ['--alone', '--keep-history', NOWHERE], '--keep-history'],
    ['chaos', ['--check', NOWHERE], '--check'],
    ['chaos', ['--check', EMPTY], 'is empty'],
    ['chaos', ['--check', IDLE], 'no request'],
    ['bench', ['--only', 'decision', '--json', NOWHERE], '--json'],
    ['bench', ['--only', 'decision', '--html', NOWHERE], '--html'],
  ])('%s %j', async (name, args, flag) => {
    const { code, out, output } = await run(name, args);
    expect({ code, out, lines: output.trimEnd().split('\n').length }).toEqual({ code: 2, out: '', lines: 1 });
    expect(output.startsWith(`${name}: `)).toBe(true);
    expect(output).toContain(flag);
  });

  it.each([
    ['chaos', [], '--alone'],
    ['bench', ['--only', 'redis'], '--only decision'],
    ['bench', ['--scenario', 'redis-peers'], '--only decision'],
  ])('%s %j without a redis-server', async (name, args, instead) => {
    const { code, output } = await run(name, args, folder);
    expect({ code, lines: output.trimEnd().split('\n').length }).toEqual({ code: 2, lines: 1 });
    expect(output).toContain('redis-server');
    expect(output).toContain(instead);
  });

  it('creates no file, and does not change an existing one', async () => {
    const fresh = join(folder, 'fresh');
    await run('bench', ['--only', 'redis', '--json', fresh, '--html', NO_HISTORY], folder);
    expect(existsSync(fresh)).toBe(false);
    expect(existsSync(NO_HISTORY)).toBe(true);
  });
});
