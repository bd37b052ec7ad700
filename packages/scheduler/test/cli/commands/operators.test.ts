/** The operators' commands nodes, node, jobs, job, sessions, cordon, uncordon, drain and cancel, against a real scheduler. */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../src/cli/run-command.ts';
import { startApp } from '../../e2e/support/start-app.ts';
import { TOKENS } from '../../transport/access/settings.ts';
import { REGISTER, startServer } from '../../transport/http/start-server.ts';
import { createTerminal, type Terminal } from '../terminal.ts';

async function run(argv: readonly string[], how: Partial<Terminal> = {}) {
  const io = { ...createTerminal(), ...how };
  const status = await runCommand(argv, io);
  return { status, out: io.lines.join('\n'), err: io.errors.join('\n') };
}

async function start() {
  const app = await startApp();
  await app.post('/v1/node/register', REGISTER);
  const env = { LINGUA_URL: app.url };
  const lingua = (line: string, how: Partial<Terminal> = {}) => run(line.split(' '), { env, ...how });
  return { app, lingua };
}

describe('the commands for nodes', () => {
  it('lists nodes, shows one, cordons, uncordons and drains it', async () => {
    const { lingua } = await start();
    const { status, out } = await lingua('nodes');
    expect(status).toBe(0);
    expect(out).toMatch(/^NODE +STATUS +USED +SLOTS +BEAT/);
    expect(out).toMatch(/\nnode-123 +ready +0 +2 +0s/);
    expect((await lingua('cordon node-123 --reason test')).out).toBe(
      'node-123: ready, cordoned, 0 running jobs',
    );
    expect((await lingua('nodes')).out).toContain('ready, cordoned');
    expect((await lingua('uncordon node-123')).out).toBe('node-123: ready, 0 running jobs');
    expect((await lingua('node node-123')).out).toMatch(
      /^node +node-123\nstatus +ready: healthy\n[\s\S]*No recent attempts\.$/,
    );
    expect((await lingua('drain node-123')).out).toContain('draining');
    expect((await lingua('nodes --status ready')).out).toBe('No nodes.');
    expect(JSON.parse((await lingua('nodes --json')).out)).toMatchObject([{ node_id: 'node-123' }]);
  });

  it('names what is missing or unknown', async () => {
    const { lingua } = await start();
    expect(await lingua('node')).toMatchObject({
      status: 2,
      err: 'lingua node: the id of the node is missing (--help explains the command)',
    });
    expect(await lingua('cordon a b')).toMatchObject({ status: 2 });
    const unknown = await lingua('node node-none');
    expect(unknown.status).toBe(1);
    expect(unknown.err).toContain('there is no such node');
    expect((await lingua('jobs --outcome lost')).err).toContain('"outcome" must be one of');
    expect(await lingua('nodes --limit 0')).toMatchObject({ status: 2 });
  });
});

describe('the commands for jobs and sessions', () => {
  it('lists jobs by outcome, shows one and cancels it', async () => {
    const { app, lingua } = await start();
    const { job_id } = await app.dispatch();
    expect((await lingua('jobs --outcome running')).out).toContain(job_id);
    expect((await lingua('jobs --outcome failed')).out).toBe('No such jobs.');
    expect(await lingua(`cancel ${job_id}`)).toMatchObject({ status: 0, out: `${job_id}: cancelled` });
    const again = await lingua(`cancel ${job_id}`);
    expect([again.status, again.err]).toEqual([1, `lingua cancel: ${job_id} had ended before (settled)`]);
    const { out } = await lingua(`job ${job_id}`);
    expect(out).toMatch(/^job +job-\S+\noutcome +cancelled\nreason +JOB_CANCELLED\n/);
    expect((await lingua('jobs --reason JOB_CANCELLED')).out).toContain(job_id);
    expect((await lingua('node node-123')).out).toMatch(/cancelled +\d+ +JOB_CANCELLED/);
    expect((await lingua('sessions')).out).toBe('No sessions on this instance.');
  });

  it('follows cursors up to the limit', async () => {
    const { app, lingua } = await start();
    for (const node_id of ['a', 'b', 'c']) await app.post('/v1/node/register', { ...REGISTER, node_id });
    const two = (await lingua('nodes --limit 2')).out;
    expect(two).toContain('… and more');
    expect(JSON.parse((await lingua('nodes --limit 4 --json')).out)).toHaveLength(4);
  });
});

describe('the common options', () => {
  it('colours a terminal, and respects NO_COLOR', async () => {
    const { app, lingua } = await start();
    const env = { LINGUA_URL: app.url };
    expect((await lingua('nodes', { isTerminal: true })).out).toContain('\u001b[32mready');
    for (const how of [{ isTerminal: false }, { isTerminal: true, env: { ...env, NO_COLOR: '1' } }])
      expect((await lingua('nodes', how)).out).not.toContain('\u001b');
    expect((await lingua('nodes --json', { isTerminal: true })).out).not.toContain('\u001b');
  });

  it('--watch prints again until it is interrupted, also after a failure', async () => {
    const { app } = await start();
    const io = createTerminal();
    let rounds = 0;
    const wait = async () => {
      rounds += 1;
      if (rounds === 2) await app.app.stop();
      if (rounds === 3) io.interrupt();
    };
    expect(await runCommand(['nodes', '--watch', '--url', app.url], { ...io, wait })).toBe(0);
    expect(io.lines).toHaveLength(2);
    expect(io.errors).toHaveLength(1);
  });

  it('--watch clears the screen of a terminal, but never with --json', async () => {
    const { app } = await start();
    const printed = async (argv: readonly string[], isTerminal: boolean) => {
      const io = createTerminal();
      const wait = async () => io.interrupt();
      await runCommand(['nodes', '--watch', '--url', app.url, ...argv], { ...io, isTerminal, wait });
      return io.lines.join('').includes('\u001b[2J');
    };
    expect(await printed([], true)).toBe(true);
    expect(await printed([], false)).toBe(false);
    expect(await printed(['--json'], true)).toBe(false);
  });

  it('takes the token from --token, --token-file or LINGUA_TOKEN, in this order', async () => {
    const { url } = await startServer({ access: { tokens: TOKENS } });
    const file = join(tmpdir(), `lingua-token-${process.pid}`);
    const status = async (argv: readonly string[], LINGUA_TOKEN?: string) =>
      (await run(['nodes', '--url', url, ...argv], { env: { LINGUA_TOKEN } })).status;
    const secret = 'operator-token';
    await writeFile(file, `${secret}\n`);
    expect(await status([])).toBe(1);
    expect(await status([], secret)).toBe(0);
    expect(await status(['--token-file', file], 'wrong')).toBe(0);
    expect(await status(['--token', 'wrong', '--token-file', file], secret)).toBe(1);
    expect(await status(['--token-file', '/nowhere'])).toBe(2);
    expect((await run(['nodes'], { env: { LINGUA_URL: 'x' } })).err).toBe(
      'lingua nodes: LINGUA_URL must start with http:// or https://',
    );
  });
});
