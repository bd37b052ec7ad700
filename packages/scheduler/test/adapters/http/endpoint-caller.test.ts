/** Posts to endpoints by HTTP: the contract of the port, and the reuse of connections. */
import { createHmac } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { createEndpointCaller } from '../../../src/adapters/http/endpoint-caller.ts';
import { createNetworks } from '../../../src/transport/access/networks.ts';
import { endpointCallerContract } from '../../contracts/endpoint-caller.ts';
import { endpoint, resolvesTo, status, unusedAddress } from './loopback-endpoint.ts';

endpointCallerContract('http', async ({ networks, addresses }) => {
  const caller = createEndpointCaller({
    networks: createNetworks(networks),
    ...(addresses && { resolve: resolvesTo(...addresses) }),
  });
  return { caller, close: async () => caller.close() };
});

function loopbackCaller() {
  const caller = createEndpointCaller({ networks: createNetworks(['127.0.0.0/8']) });
  onTestFinished(caller.close);
  return caller;
}

it('signs time and body with the key, so that the endpoint can verify both', async () => {
  const signingKey = 'a-key-of-the-test-with-32-characters';
  const received: Record<string, unknown>[] = [];
  const { url, bodies } = await endpoint((request, response) => {
    received.push(request.headers);
    response.writeHead(200).end();
  });
  const networks = createNetworks(['127.0.0.0/8']);
  const signing = createEndpointCaller({ networks, signingKey, now: () => 1_700_000_000_999 });
  onTestFinished(signing.close);
  await signing.post(url, '{"job_id":"job-1"}', 5_000);
  await loopbackCaller().post(url, '{}', 5_000);
  const digest = createHmac('sha256', signingKey).update(`1700000000.${bodies[0]}`).digest('hex');
  expect(received[0]).toMatchObject({
    'x-lingua-timestamp': '1700000000',
    'x-lingua-signature': `sha256=${digest}`,
  });
  expect(received[1]).not.toHaveProperty('x-lingua-signature');
});

it('reuses the connection to an endpoint', async () => {
  const { url, server } = await endpoint(status(200));
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  const { post } = loopbackCaller();
  for (let count = 0; count < 3; count += 1) await post(url, '{}', 5_000);
  expect(connections).toBe(1);
});

it.each([
  ['cannot be found', (done: (error: Error) => void) => done(new Error('ENOTFOUND'))],
  ['is not found in time', () => {}],
])('sends nothing to a host name that %s', async (_, answer) => {
  const resolve = ((_host: string, _options: unknown, done: (error: Error) => void) => answer(done)) as never;
  const { post, close } = createEndpointCaller({ networks: createNetworks(['127.0.0.0/8']), resolve });
  onTestFinished(close);
  expect(await post('http://gpu-box.internal/', '{}', 200)).toMatchObject({ kind: 'declined' });
});

it('reports the status, the fault or the timeout as the reason', async () => {
  const { post } = loopbackCaller();
  const reasonOf = async (url: string, timeoutMs = 5_000) => {
    const result = await post(url, '{}', timeoutMs);
    return result.kind !== 'taken' && result.reason;
  };
  expect(await reasonOf((await endpoint(status(429))).url)).toBe('status_429');
  expect(await reasonOf((await endpoint(status(500))).url)).toBe('status_500');
  expect(await reasonOf(await unusedAddress())).toBe('ECONNREFUSED');
  expect(await reasonOf((await endpoint(() => {})).url, 30)).toBe('no answer in time');
});
