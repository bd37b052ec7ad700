/** A stolen token is revoked, and the thief keeps everything open that it had, and answers nothing. */
import { connect, type Socket } from 'node:net';
import { eventually } from '../../eventually.ts';
import { type Attack, broke, held, PULL_NODE, type Target, UTTERANCE } from '../attack.ts';
import { MAIN_TOKENS, MAIN_WITHOUT_STOLEN, STOLEN, TOKENS } from '../deployments.ts';

const PATIENCE_MS = 10_000;

interface Held {
  readonly what: string;
  readonly socket: Socket;
  isClosed: boolean;
}

const UPGRADE = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
];
const CLOSE = ['connection: close'];

/** Sends a request that has no quick end, and never sends anything again: it answers no close frame either. */
function open(port: number, what: string, path: string, token: string, headers: readonly string[]): Held {
  const socket = connect(port, '127.0.0.1');
  const lines = [`GET ${path} HTTP/1.1`, 'host: localhost', `authorization: Bearer ${token}`, ...headers];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  socket.on('error', () => {});
  const opened: Held = { what, socket: socket.resume(), isClosed: false };
  socket.once('close', () => {
    opened.isClosed = true;
  });
  return opened;
}

/** Sockets, event streams and waits, by the metrics of the process. */
async function openAt(target: Target, port: number): Promise<number> {
  const { body } = await target.call<string>('GET', '/metrics', { token: MAIN_TOKENS.admin, port });
  return body
    .split('\n')
    .filter((line) => /^scheduler_(connections|http_waits)\{/.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function attackOne(target: Target, port: number): Promise<string | number> {
  // Of attacks before, on the same processes.
  await eventually(async () => (await openAt(target, port)) === 0, { withinMs: PATIENCE_MS });
  const register = (token: string, nodeId: string) =>
    target.call('POST', '/v1/node/register', { token, port, body: { ...PULL_NODE, node_id: nodeId } });
  const [stolen, honest] = [`stolen-node-${port}`, `honest-node-${port}`];
  await Promise.all([register(STOLEN.node, stolen), register(TOKENS.node, honest)]);
  const dispatched = await target.call<{ job_id: string }>('POST', '/v1/dispatch/f2f', {
    token: STOLEN.client,
    port,
    body: UTTERANCE,
  });
  const job = `/v1/job/${dispatched.body.job_id}`;
  const thief = [
    open(port, 'a session socket', '/ws/session', STOLEN.client, UPGRADE),
    open(port, 'a node socket', '/ws/node', STOLEN.node, UPGRADE),
    open(port, 'the events of a job', `${job}/events`, STOLEN.client, CLOSE),
    open(port, 'a long poll', `${job}?wait_ms=60000`, STOLEN.client, CLOSE),
    open(port, 'the live feed', '/api/v1/live', STOLEN.viewer, CLOSE),
    open(port, 'a poll for jobs', `/v1/node/${stolen}/jobs?wait_ms=60000&max=1`, STOLEN.node, CLOSE),
  ];
  const kept = open(port, 'the socket of another client', '/ws/session', TOKENS.acme, UPGRADE);
  try {
    await eventually(async () => (await openAt(target, port)) >= thief.length, { withinMs: PATIENCE_MS });
    target.configure(MAIN_WITHOUT_STOLEN);
    const reload = await target.call('POST', '/api/v1/reload', { token: MAIN_TOKENS.admin, port, body: {} });
    if (reload.status !== 200) return `the reload was answered with ${reload.status}`;
    const reloadedAt = performance.now();
    const left = (): readonly Held[] => thief.filter(({ isClosed }) => !isClosed);
    await eventually(() => left().length === 0, { withinMs: PATIENCE_MS }).catch(() => {});
    const ms = Math.round(performance.now() - reloadedAt);
    if (left().length > 0)
      return `${left()
        .map(({ what }) => what)
        .join(', ')} stayed open for ${ms} ms`;
    const { body } = await target.call<{ nodes: { node_id: string; status: string }[] }>(
      'GET',
      '/api/v1/nodes',
      {
        token: MAIN_TOKENS.admin,
        port,
      },
    );
    const node = body.nodes.find(({ node_id }) => node_id === stolen);
    if (node !== undefined && node.status !== 'offline') return `its node is still ${node.status}`;
    for (const [token, path] of [
      [STOLEN.client, job],
      [STOLEN.node, `/v1/node/${stolen}/jobs`],
      [STOLEN.viewer, '/api/v1/nodes'],
    ] as const) {
      const { status } = await target.call('GET', path, { token, port });
      if (status !== 401) return `a revoked token got ${status}`;
    }
    return kept.isClosed ? 'another client lost its socket' : ms;
  } finally {
    for (const { socket } of [...thief, kept]) socket.destroy();
  }
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'revoked-tokens',
    point: 11,
    does: 'Keeps sockets, streams, waits and a node open while a reload revokes their tokens, and answers no close frame',
    modes: ['single', 'redis'],
    async run(target) {
      const times: number[] = [];
      for (const port of target.ports) {
        const got = await attackOne(target, port);
        if (typeof got === 'string') return broke(got);
        times.push(got);
      }
      return held(`all closed ${times.join(' and ')} ms after the reload`);
    },
  },
];
