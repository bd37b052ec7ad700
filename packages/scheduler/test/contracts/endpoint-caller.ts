/** Contract of EndpointCaller: its law as tests, for any adapter, against real servers. */
import { describe, expect, it } from 'vitest';
import type { EndpointCaller } from '../../src/ports/endpoint-caller.ts';
import { endpoint, status, unusedAddress } from '../adapters/http/loopback-endpoint.ts';
import { type Closable, perTest } from './harness.ts';

export interface EndpointCallerHarness extends Closable {
  readonly caller: EndpointCaller;
}

export type OpenEndpointCaller = (options: {
  /** The allow-list. */
  readonly networks: readonly string[];
  /** Addresses of every host name; absent: those of the machine. */
  readonly addresses?: readonly string[];
}) => Promise<EndpointCallerHarness>;

const LOOPBACK = { networks: ['127.0.0.0/8'] };
const LONG_MS = 10_000;

export function endpointCallerContract(name: string, open: OpenEndpointCaller): void {
  describe(`EndpointCaller: ${name}`, () => {
    const start = perTest(open);

    describe('permission', () => {
      it.each([
        ['http://10.1.2.3/jobs', true],
        ['https://10.1.2.3:8443/jobs', true],
        ['http://[::ffff:10.1.2.3]/', true],
        ['http://gpu-box.internal/jobs', true],
        ['http://11.1.2.3/jobs', false],
        ['http://127.0.0.1/jobs', false],
        ['http://2130706433/', false],
        ['http://0x7f.1/', false],
        ['http://[::1]/', false],
        ['http://user:pass@10.1.2.3/', false],
        ['ftp://10.1.2.3/', false],
        ['file:///etc/passwd', false],
        ['not a url', false],
        ['', false],
      ])('of %s is given: %s', async (url, isPermitted) => {
        const { caller } = await start({ networks: ['10.0.0.0/8'] });
        expect(caller.permits(url)).toBe(isPermitted);
      });

      it('is refused when no network is permitted', async () => {
        const { caller } = await start({ networks: [] });
        expect(caller.permits('http://gpu-box.internal/jobs')).toBe(false);
        expect(await caller.post('http://gpu-box.internal/jobs', '{}', LONG_MS)).toMatchObject({
          kind: 'forbidden',
        });
      });

      it.each(['not a url', '', 'file:///etc/passwd'])(
        'refused to "%s" is a result of post, not an exception',
        async (url) => {
          const { caller } = await start(LOOPBACK);
          expect(await caller.post(url, '{}', LONG_MS)).toMatchObject({ kind: 'forbidden' });
        },
      );

      it('is judged by the resolved address, not by the name', async () => {
        const { port, url, bodies } = await endpoint(status(200));
        const { caller } = await start({ networks: ['10.0.0.0/8'], addresses: ['127.0.0.1', '::1'] });
        const rebound = `http://rebound.example:${port}/`;
        expect(caller.permits(rebound)).toBe(true);
        expect(await caller.post(rebound, '{}', LONG_MS)).toMatchObject({ kind: 'forbidden' });
        expect(await caller.post(url, '{}', LONG_MS)).toMatchObject({ kind: 'forbidden' });
        expect(bodies).toEqual([]);
      });

      it('uses the permitted one of several addresses', async () => {
        const { port, bodies } = await endpoint(status(200));
        const { caller } = await start({ ...LOOPBACK, addresses: ['10.9.9.9', '127.0.0.1'] });
        const result = await caller.post(`http://node.example:${port}/`, '{}', LONG_MS);
        expect(result).toEqual({ kind: 'taken' });
        expect(bodies).toHaveLength(1);
      });
    });

    describe('answers', () => {
      it('sends the body unchanged', async () => {
        const { url, bodies } = await endpoint(status(202));
        const { caller } = await start(LOOPBACK);
        expect(await caller.post(url, '{"text":"你好"}', LONG_MS)).toEqual({ kind: 'taken' });
        expect(bodies).toEqual(['{"text":"你好"}']);
      });

      it.each([
        [200, 'taken'],
        [201, 'taken'],
        [202, 'taken'],
        [204, 'taken'],
        [299, 'taken'],
        [300, 'declined'],
        [304, 'declined'],
        [400, 'declined'],
        [401, 'declined'],
        [404, 'declined'],
        [408, 'unreachable'],
        [409, 'unreachable'],
        [429, 'overloaded'],
        [500, 'unreachable'],
        [502, 'unreachable'],
        [503, 'overloaded'],
        [504, 'unreachable'],
      ])('returns %i as %s', async (code, kind) => {
        const { url } = await endpoint(status(code));
        const { caller } = await start(LOOPBACK);
        const result = await caller.post(url, '{}', LONG_MS);
        expect(result.kind).toBe(kind);
        if (result.kind !== 'taken') expect(result.reason).not.toBe('');
      });

      it.each([301, 302, 303, 307, 308])('does not follow a redirect by %i', async (code) => {
        const target = await endpoint(status(200));
        const { url } = await endpoint(status(code, { location: target.url }));
        const { caller } = await start(LOOPBACK);
        expect(await caller.post(url, '{}', LONG_MS)).toEqual({ kind: 'declined', reason: 'redirect' });
        expect(target.bodies).toEqual([]);
      });
    });

    describe('silence', () => {
      it('is declined when no server listens', async () => {
        const { caller } = await start(LOOPBACK);
        expect(await caller.post(await unusedAddress(), '{}', LONG_MS)).toMatchObject({ kind: 'declined' });
      });

      it('is unreachable when no answer comes in time', async () => {
        const { url, bodies } = await endpoint(() => {});
        const { caller } = await start(LOOPBACK);
        expect(await caller.post(url, '{}', 100)).toMatchObject({ kind: 'unreachable' });
        expect(bodies.length).toBeLessThanOrEqual(1);
      });

      it.each(['end', 'destroy', 'resetAndDestroy'] as const)(
        'is unreachable when the connection breaks before the answer: %s',
        async (breakOff) => {
          const { url } = await endpoint((request) => request.socket[breakOff]());
          const { caller } = await start(LOOPBACK);
          expect(await caller.post(url, '{}', LONG_MS)).toMatchObject({ kind: 'unreachable' });
        },
      );

      it.each([
        ['wants to change the protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: any\r\n\r\n'],
        ['is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
      ])('is unreachable when the answer %s', async (_, text) => {
        const { url } = await endpoint((request) => request.socket.end(text));
        const { caller } = await start(LOOPBACK);
        expect(await caller.post(url, '{}', 60_000)).toMatchObject({ kind: 'unreachable' });
      });
    });

    describe('limits', () => {
      it('ends in time if the answer never ends', async () => {
        const { url } = await endpoint((_request, response) => void response.writeHead(200).write('{'));
        const { caller } = await start(LOOPBACK);
        const { kind } = await caller.post(url, '{}', 200);
        expect(['taken', 'unreachable']).toContain(kind);
      });

      it('reads a bounded part of an endless answer', async () => {
        let written = 0;
        const { url } = await endpoint((_request, response) => {
          response.writeHead(200);
          const write = () => {
            do written += 65_536;
            while (!response.destroyed && response.write('x'.repeat(65_536)));
          };
          response.on('drain', write);
          response.on('error', () => {});
          write();
        });
        const { caller } = await start(LOOPBACK);
        // The test waits for the size limit, which comes far before the time limit.
        expect(await caller.post(url, '{}', 60_000)).toEqual({ kind: 'taken' });
        expect(written).toBeLessThan(64 * 1024 * 1024);
      });

      it('serves other endpoints while one does not answer', async () => {
        const [silent, prompt] = [await endpoint(() => {}), await endpoint(status(200))];
        const { caller } = await start(LOOPBACK);
        const waiting = caller.post(silent.url, '{}', 300);
        expect(await caller.post(prompt.url, '{}', LONG_MS)).toEqual({ kind: 'taken' });
        expect(await waiting).toMatchObject({ kind: 'unreachable' });
      });
    });
  });
}
