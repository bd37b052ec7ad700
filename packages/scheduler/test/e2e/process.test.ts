/** The command as a process: start, signals, exit codes, and errors at the start. */
import { execFile } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import type { DispatchReply, JobView } from '@lingua/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ensureBuilt } from './support/ensure-built.ts';
import { type LinguaProcess, lingua } from './support/lingua.ts';
import { holdJobs, joinSdkNode } from './support/sdk-node.ts';
import { createClient } from './support/start-app.ts';

beforeAll(ensureBuilt, 150_000);

const SHUTDOWN = [
  'draining: not ready any more, new work is refused',
  'drained: every job has its outcome',
  'sockets closed',
  'HTTP closed',
  'stopped',
];

/** A server with one node that holds one job. */
async function serveOneJob(...settings: string[]) {
  const server = lingua(['serve', '--port', '0', ...settings.flatMap((pair) => ['--set', pair])]);
  const url = await server.url();
  const client = createClient(url);
  const held = holdJobs();
  const node = await joinSdkNode({ url: `${url.replace('http', 'ws')}/ws/node`, onJob: held.onJob });
  await client.readyNodes(1);
  const { job_id: jobId } = await client.dispatch();
  await held.job();
  await eventually(async () => (await client.job(jobId)).state === 'RUNNING');
  return { server, url, client, held, node, jobId };
}

const shutdownLines = (server: LinguaProcess): string[] =>
  server.messages().filter((message) => SHUTDOWN.includes(message));

describe('lingua serve', () => {
  it('the server is ready once it listens', async () => {
    const url = await lingua(['serve', '--port', '0']).url();
    const { status, body } = await createClient(url).get('/health/ready');
    expect([status, body.status]).toEqual([200, 'ok']);
  });

  it('SIGTERM drains: the job finishes, everything closes, exit code 0', async () => {
    const { server, client, held, jobId } = await serveOneJob();
    const waiting = client.get<JobView>(`/v1/job/${jobId}?wait_ms=20000`);
    server.signal('SIGTERM');
    await eventually(async () => {
      const { status, body } = await client.get('/health/ready');
      return status === 503 && body.status === 'draining';
    });
    expect((await client.get('/health/live')).status).toBe(200);
    expect(await client.tryDispatch()).toMatchObject({ status: 503, body: { retry_after_ms: 2_000 } });
    expect(shutdownLines(server)).toEqual(SHUTDOWN.slice(0, 1));

    held.finish();
    expect((await waiting).body).toMatchObject({ attempt_id: 1, result: { success: true } });
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(shutdownLines(server)).toEqual(SHUTDOWN);
    expect(held.begun).toHaveLength(1);
  });

  it('at the end of the drain time remaining jobs are logged, exit code 0', async () => {
    const { server } = await serveOneJob('server.drain_timeout_ms=100');
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(server.messages()).toContain(
      'jobs were left at the end of the drain time; their clients will send them again',
    );
    expect(server.out()).toContain('"jobs":1');
  });

  it('draining does not wait for long polls, and stderr stays empty', async () => {
    const { server, client, held, jobId, url } = await serveOneJob();
    const events = fetch(`${url}/v1/job/${jobId}/events`).then((answer) => answer.text());
    await client.post('/v1/node/register', { node_id: 'node-pull', health: 'degraded' });
    const poll = client.get('/v1/node/node-pull/jobs?wait_ms=60000');
    await eventually(async () => (await client.nodes()).length === 2);
    server.signal('SIGTERM');
    held.finish();
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(await poll).toMatchObject({ status: 200, body: { jobs: [] } });
    expect(await events).toContain('FINISHED');
    expect(server.err()).toBe('');
  });

  it('Ctrl-C counts once, although npm forwards it a second time', async () => {
    const { server, held } = await serveOneJob();
    server.signal('SIGINT');
    server.signal('SIGINT');
    await eventually(() => shutdownLines(server).length > 0);
    held.finish();
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(shutdownLines(server)).toEqual(SHUTDOWN);
  });

  it('a second SIGTERM ends the process immediately', async () => {
    const { server } = await serveOneJob();
    server.signal('SIGTERM');
    await eventually(() => shutdownLines(server).length > 0);
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('a used port is reported with advice, exit code 1', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const server = lingua(['serve', '--port', String(port)]);
    expect(await server.ended).toEqual({ code: 1, signal: null });
    expect(server.err()).toContain(
      `127.0.0.1:${port} is in use; stop the other program or choose another --port`,
    );
    expect(server.out()).toBe('');
    other.close();
  });

  it('an unknown setting is reported with the nearest name, exit code 2', async () => {
    const server = lingua(['serve', '--set', 'server.prot=1', '--set', 'scheduler.max_retry=many']);
    expect(await server.ended).toEqual({ code: 2, signal: null });
    expect(server.err()).toContain('server.prot');
    expect(server.err()).toContain('did you mean server.port?');
    expect(server.err()).toContain('scheduler.max_retry');
  });

  it('an invalid environment variable is named', async () => {
    const server = lingua(['serve'], { LINGUA_SERVER__PROT: '1' });
    expect(await server.ended).toEqual({ code: 2, signal: null });
    expect(server.err()).toMatch(/LINGUA_SERVER__PROT.*LINGUA_SERVER__PORT/);
  });
});

describe('lingua config print', () => {
  it('config print shows every setting with its origin and no secret', async () => {
    const tokens = 'server.tokens=[{"token":"a-secret-of-16-chars","role":"operator"}]';
    const print = lingua(['config', 'print', '--set', tokens, '--set', 'scheduler.max_retry=3']);
    expect(await print.ended).toEqual({ code: 0, signal: null });
    expect(print.out()).toMatch(/^scheduler\.max_retry +3 +.*--set scheduler\.max_retry/m);
    expect(print.out()).not.toContain('a-secret-of-16-chars');
  });

  it('config print has JSON output', async () => {
    const print = lingua(['config', 'print', '--json', '--port', '7000']);
    expect(await print.ended).toEqual({ code: 0, signal: null });
    expect(print.out()).toContain('7000');
    expect(() => JSON.parse(print.out())).not.toThrow();
  });
});

describe('lingua demo', () => {
  it('the printed curl line of the demo works and returns a result marked as simulated', async () => {
    const demo = lingua(['demo', '--port', '0']);
    const line = await eventually(() => /^ *(curl -s http\S+\/v1\/dispatch.*)$/m.exec(demo.out())?.[1]);
    const { stdout } = await promisify(execFile)('bash', ['-c', line]);
    const { job_id } = JSON.parse(stdout) as DispatchReply;
    expect(job_id).toMatch(/^job-/);
    const ask = await eventually(() => /^ *(curl -s '\S+JOB_ID\S+')$/m.exec(demo.out())?.[1]);
    const job = await promisify(execFile)('bash', ['-c', ask.replace('JOB_ID', job_id)]);
    expect(JSON.parse(job.stdout)).toMatchObject({ job_id, result: { success: true } });
    // The demo marks simulated results, in the result and on the terminal.
    expect(JSON.parse(job.stdout)).toMatchObject({ result: { extra: { simulated: true } } });
    expect(demo.out()).toContain('Results are simulated');
    demo.signal('SIGTERM');
    expect(await demo.ended).toEqual({ code: 0, signal: null });
  });
});
