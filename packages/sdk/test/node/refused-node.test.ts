/** What a retry cannot fix: start() rejects with the cause. Everything else is logged, by default to the console. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { NodeOptions } from '../../src/node/index.ts';
import { until } from './support/scripted-scheduler.ts';
import { prepareNode, startNode } from './support/start-node.ts';

const servers: Server[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Refuses each upgrade with this answer. */
async function refusing(status: number, body: unknown): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const text = JSON.stringify(body);
  const server = createServer();
  server.on('upgrade', (_, socket) => {
    asked += 1;
    // The node may end the connection first.
    socket.on('error', () => {});
    socket.end(
      `HTTP/1.1 ${status} No\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws/node`, asked: () => asked };
}

describe('start()', () => {
  it.each([
    [
      'a wrong token',
      401,
      { error: 'UNAUTHORIZED', detail: 'unknown token' },
      'UNAUTHORIZED',
      /unknown token/,
    ],
    [
      'a token of another role',
      403,
      { error: 'FORBIDDEN', detail: 'this token may not act as node' },
      'UNAUTHORIZED',
      /may not act as node/,
    ],
    [
      'a wrong path',
      404,
      { error: 'NOT_FOUND', detail: 'sockets open at /ws/node' },
      'NOT_FOUND',
      /not a Lingua/,
    ],
    ['another server', 200, '<html>', 'NOT_FOUND', /not a Lingua scheduler/],
  ])('rejects on %s', async (_, status, body, code, message) => {
    const { url, asked } = await refusing(status, body);
    const { node, logged } = await prepareNode({ url });
    const error = await node.start().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'StartError', code, message: expect.stringMatching(message) });
    expect(asked()).toBe(1);
    expect(logged.filter(({ level }) => level === 'error')).toHaveLength(1);
    await node.stop();
  });

  it.each(['INVALID_MESSAGE', 'INVALID_CAPABILITY_SCHEMA', 'NO_GPU_AVAILABLE', 'NODE_ID_CONFLICT'] as const)(
    'rejects on %s of the registration',
    async (code) => {
      const { scheduler, node } = await prepareNode({}, { acknowledges: () => false });
      const started = node.start();
      await until(() => scheduler.registrations().length === 1);
      scheduler.send({ type: 'error', code, message: 'wrong field' });
      await expect(started).rejects.toMatchObject({ code, message: `${code}: wrong field` });
      expect(scheduler.connections()).toBe(1);
    },
  );

  it('goes on trying while the scheduler is unavailable, and logs why', async () => {
    const { url, asked } = await refusing(503, { error: 'RATE_LIMITED', detail: 'too many connections' });
    const { node, logged } = await prepareNode({ url });
    const started = node.start();
    await until(() => asked() >= 3);
    expect(logged).toContainEqual(
      expect.objectContaining({ fields: { reason: '503: too many connections' } }),
    );
    await node.stop({ graceMs: 0 });
    await expect(started).rejects.toThrow('stopped before');
  });

  it('a node that was registered goes on trying after a refusal', async () => {
    let isRefusing = false;
    const { scheduler, node } = await startNode({}, { acknowledges: () => !isRefusing });
    isRefusing = true;
    scheduler.cut();
    await until(() => scheduler.registrations().length === 2);
    scheduler.send({ type: 'error', code: 'NODE_ID_CONFLICT', message: 'another has it' });
    isRefusing = false;
    scheduler.cut();
    await until(() => node.metrics().isRegistered);
  });

  it.each([
    [
      'capability_by_type',
      { capability_by_type: [{ type: 'ars', ready: true }] },
      /"ars".*did you mean "asr"/,
    ],
    ['installed_services', { installed_services: [{ service_id: 's', type: 'NMT ' }] }, /did you mean "nmt"/],
    [
      'no near one',
      { capability_by_type: [{ type: 'video-diffusion', ready: true }] },
      /known ones are asr, nmt/,
    ],
  ] as [string, NodeOptions['capabilities'], RegExp][])(
    'refuses an unknown service type with the nearest known one: %s',
    async (_, capabilities, message) => {
      const { scheduler, node } = await prepareNode({ capabilities: () => capabilities as never });
      await expect(node.start()).rejects.toThrow(message);
      expect(scheduler.connections()).toBe(0);
    },
  );
});

describe('without a log', () => {
  it('losses and exceptions of onJob are written to the console, with the job id', async () => {
    const lines: unknown[][] = [];
    for (const level of ['warn', 'error'] as const)
      vi.spyOn(console, level).mockImplementation((...line: unknown[]) => void lines.push(line));
    const fault = new Error('no such tensor');
    const { scheduler } = await startNode({
      log: undefined,
      onJob: () => {
        throw fault;
      },
    });
    scheduler.assign({ job_id: 'job-a' });
    await until(() => scheduler.results().length === 1);
    expect(lines).toContainEqual([
      'lingua node: a job failed',
      { job_id: 'job-a', code: 'PROCESSING_ERROR', error: fault },
    ]);
    scheduler.cut();
    await until(() => lines.some(([message]) => message === 'lingua node: not connected'));
  });
});
