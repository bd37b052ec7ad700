/** One client wants all the waits of a process, so that pull nodes get no jobs and other clients no results. */
import { connect, type Socket } from 'node:net';
import { type Attack, broke, held, PULL_NODE, type Target, UTTERANCE } from '../attack.ts';
import { TOKENS } from '../deployments.ts';
import { exchange } from '../raw-exchange.ts';

const PIPELINED = 10_050;
/** Four polls may wait on one connection; the process has room for more than one credential may hold. */
const [POLLS_EACH, CONNECTIONS_AT_ONCE, MOST_CONNECTIONS] = [4, 100, 2_000];
const POLL_MS = 60_000;

async function jobOf(target: Target, nodeId: string): Promise<string> {
  await target.call('POST', '/v1/node/register', {
    token: TOKENS.node,
    body: { ...PULL_NODE, node_id: nodeId },
  });
  const { body } = await target.call<{ job_id: string }>('POST', '/v1/dispatch/f2f', {
    token: TOKENS.acme,
    body: UTTERANCE,
  });
  return body.job_id;
}

const pollOf = (jobId: string): string =>
  `GET /v1/job/${jobId}?wait_ms=${POLL_MS} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKENS.acme}\r\n\r\n`;

/** A node and a client of another tenant still get answers. */
async function whoIsStarved(target: Target, nodeId: string): Promise<string | undefined> {
  const poll = await target.call('GET', `/v1/node/${nodeId}/jobs?wait_ms=1`, { token: TOKENS.node });
  if (poll.status !== 200) return `the poll of a node was answered with ${poll.status}`;
  const { body } = await target.call<{ job_id: string }>('POST', '/v1/dispatch/f2f', {
    token: TOKENS.globex,
    body: UTTERANCE,
  });
  const wait = await target.call('GET', `/v1/job/${body.job_id}?wait_ms=1`, { token: TOKENS.globex });
  return wait.status === 200 ? undefined : `another tenant's wait was answered with ${wait.status}`;
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'pipelined-polls',
    point: 2,
    does: `Pipelines ${PIPELINED} long polls of one job on one connection`,
    modes: ['single', 'redis'],
    async run(target) {
      const jobId = await jobOf(target, 'node-of-pipelined');
      const { isClosed } = await exchange(target.port, pollOf(jobId).repeat(PIPELINED), 5_000);
      const starved = await whoIsStarved(target, 'node-of-pipelined');
      if (starved !== undefined) return broke(starved);
      return isClosed ? held('the connection was closed') : broke('the connection stayed open');
    },
  },
  {
    name: 'waits-of-one-client',
    point: 2,
    does: `Opens connections with ${POLLS_EACH} long polls each, up to ${MOST_CONNECTIONS}, until a poll is refused`,
    modes: ['single', 'redis'],
    async run(target) {
      const jobId = await jobOf(target, 'node-of-waits');
      const sockets: Socket[] = [];
      const open = (): void => {
        const socket = connect(target.port, '127.0.0.1');
        socket.on('error', () => {});
        socket.write(pollOf(jobId).repeat(POLLS_EACH));
        sockets.push(socket);
      };
      const isRefused = async (): Promise<boolean> => {
        const { body } = await target.call<string>('GET', '/metrics', { token: TOKENS.operator });
        return /^scheduler_http_waits_refused_total\{kind="caller",limit="owner"\} [1-9]/m.test(body);
      };
      try {
        let hasRefused = false;
        while (!hasRefused && sockets.length < MOST_CONNECTIONS) {
          for (let count = 0; count < CONNECTIONS_AT_ONCE; count += 1) open();
          hasRefused = await isRefused();
        }
        const starved = await whoIsStarved(target, 'node-of-waits');
        if (starved !== undefined) return broke(starved);
        return hasRefused
          ? held(`polls were refused from ${sockets.length} connections on`)
          : broke(`${sockets.length} connections may wait`);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    },
  },
];
