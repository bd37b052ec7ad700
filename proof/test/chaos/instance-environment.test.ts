/** The environment of an instance under chaos: a clock with the given error, and redirected ports. */
import { execFile } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../../../packages/scheduler/test/e2e/support/ensure-built.ts';

beforeAll(ensureBuilt, 150_000);

const SURROUNDINGS = new URL('../../dist/chaos/inside/surroundings.js', import.meta.url).href;

async function inside(code: string, env: Record<string, string>): Promise<string> {
  const args = ['--import', SURROUNDINGS, '--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
  return stdout.trim();
}

describe('the environment of an instance', () => {
  it.each([90_000, -90_000])('has a clock that is ahead by %i ms for every reader', async (aheadMs) => {
    const code =
      'console.log(JSON.stringify([Date.now(), +new Date(), performance.timeOrigin + performance.now(), +new Date(5)]))';
    const before = Date.now();
    const received = JSON.parse(await inside(code, { CHAOS_CLOCK_AHEAD_MS: String(aheadMs) })) as number[];
    const tookMs = Date.now() - before;
    for (const at of received.slice(0, 3)) {
      expect(at - aheadMs - before).toBeGreaterThan(-5);
      expect(at - aheadMs - before).toBeLessThan(tookMs + 5);
    }
    expect(received[3]).toBe(5);
  });

  it('redirects connections to a port without notice', async () => {
    const server = createServer((socket) => socket.end('here'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const code = `
      import { connect } from 'node:net';
      connect({ port: 1, host: '127.0.0.1' }).on('data', (data) => console.log(data.toString(), process.env.CHAOS_DETOURS));
    `;
    expect(await inside(code, { CHAOS_DETOURS: JSON.stringify([[1, port]]) })).toBe('here undefined');
  });
});
