/** The services of a hub over HTTP: the contract, and faults of the network. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServiceHub } from '../../../src/adapters/http/service-hub.ts';
import { serviceHubContract } from '../../contracts/service-hub.ts';

const MAX_BYTES = 4_096;

type ReportedAttempt = Parameters<typeof createServer>[1];

async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

serviceHubContract('HTTP', async () => {
  let text = '';
  const answer: ReportedAttempt = (_, response) => void response.end(text);
  let server: Server | undefined = createServer(answer);
  const port = await listen(server);
  const stop = async () => {
    if (server !== undefined) await close(server);
    server = undefined;
  };
  return {
    hub: createServiceHub({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs: 5_000, maxBytes: MAX_BYTES }),
    maxBytes: MAX_BYTES,
    async offer(given) {
      text = given;
      if (server === undefined) {
        server = createServer(answer);
        await listen(server, port);
      }
    },
    vanish: stop,
    close: stop,
  };
});

describe('a hub over HTTP', () => {
  async function hubThat(answer: ReportedAttempt, timeoutMs = 5_000, path = '') {
    const server = createServer(answer);
    const port = await listen(server);
    onTestFinished(() => close(server));
    return createServiceHub({ baseUrl: `http://127.0.0.1:${port}${path}`, timeoutMs, maxBytes: MAX_BYTES });
  }

  it('gets the password of its address, which appears nowhere else', async () => {
    const requests: unknown[] = [];
    const server = createServer(({ url, headers }, response) => {
      requests.push([url, headers.authorization]);
      response.end('[]');
    });
    const port = await listen(server);
    const withPassword = (user: string) =>
      createServiceHub({ baseUrl: `http://${user}@127.0.0.1:${port}/hub/?key=1`, timeoutMs: 5_000 });
    await withPassword('ann:p%40ss').list();
    await withPassword('100%:').list();
    const basic = (words: string) => `Basic ${Buffer.from(words).toString('base64')}`;
    expect(requests).toEqual([
      ['/hub/api/services?key=1', basic('ann:p@ss')],
      ['/hub/api/services?key=1', basic('100%:')],
    ]);
    await close(server);
    await expect(withPassword('ann:geheim').list()).rejects.toThrow(/^(?!.*geheim)/);
  });

  it('is called at /api/services below its address', async () => {
    const requests: (string | undefined)[] = [];
    const answer: ReportedAttempt = (request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.end('[]');
    };
    await (await hubThat(answer)).list();
    await (await hubThat(answer, 5_000, '/hub/')).list();
    expect(requests).toEqual(['GET /api/services', 'GET /hub/api/services']);
  });

  it('that never answers is abandoned at the limit', async () => {
    const hub = await hubThat(() => undefined, 50);
    await expect(hub.list()).rejects.toThrow('within 50 ms');
  });

  it('whose answer never ends is abandoned at the limit', async () => {
    const hub = await hubThat((_, response) => void response.write('[1,'), 100);
    await expect(hub.list()).rejects.toThrow('within 100 ms');
  });

  it('that answers with an error is a failure', async () => {
    const hub = await hubThat((_, response) => void response.writeHead(500).end('{"services":[]}'));
    await expect(hub.list()).rejects.toThrow('status 500');
  });

  it('that redirects is a failure', async () => {
    const visits: string[] = [];
    const hub = await hubThat((request, response) => {
      visits.push(request.url ?? '');
      response.writeHead(302, { location: '/elsewhere' }).end('[]');
    });
    await expect(hub.list()).rejects.toThrow('redirect');
    expect(visits).toEqual(['/api/services']);
  });

  it('that sends too much is cut off', async () => {
    const hub = await hubThat((_, response) => {
      const send = () => {
        while (!response.destroyed && response.write('x'.repeat(1_000)));
      };
      response.on('drain', send);
      send();
    });
    await expect(hub.list()).rejects.toThrow(String(MAX_BYTES));
  });
});
