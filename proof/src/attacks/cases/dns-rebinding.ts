/** A web page whose name DNS points to the scheduler acts with the rights that the network of its reader has. */
import { type IncomingMessage, request } from 'node:http';
import { type Attack, broke, held, type Target } from '../attack.ts';
import { OPEN } from '../deployments.ts';

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

/** The status of an answer, 101 for an upgrade. */
const statusOf = ({ port }: Target, path: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent: false, timeout: 4_000 });
    sent.once('response', (reply: IncomingMessage) => {
      resolve(reply.statusCode ?? 0);
      reply.destroy();
    });
    sent.once('upgrade', (_, socket) => {
      resolve(101);
      socket.destroy();
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.once('error', reject);
    sent.end();
  });

const PATHS = ['/api/v1/nodes', '/metrics', '/ws/node', '/ws/session'];
const HOSTS = [
  'evil.example',
  'evil.example:5010',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'localhost@evil.example',
];

const FOREIGN = ['https://evil.example', 'file://', 'chrome-extension://evil', 'null'];

export const ATTACKS: readonly Attack[] = [
  {
    name: 'dns-rebinding',
    point: 3,
    does: 'Acts without a token from a page whose name points to the scheduler',
    modes: ['single', 'redis'],
    on: OPEN,
    async run(target) {
      for (const path of PATHS) {
        const upgrade = path.startsWith('/ws/') ? UPGRADE : {};
        for (const host of HOSTS)
          for (const page of [{}, { origin: `http://${host}` }, { origin: 'null' }]) {
            const status = await statusOf(target, path, { ...upgrade, host, ...page });
            if (status < 400) return broke(`${path} with Host ${host} was answered with ${status}`);
          }
        for (const origin of FOREIGN) {
          const status = await statusOf(target, path, { ...upgrade, host: 'speech.example', origin });
          if (status !== 403) return broke(`${path} from ${origin} was answered with ${status}`);
        }
        const own = await statusOf(target, path, {
          ...upgrade,
          host: 'speech.example',
          origin: 'http://speech.example:9001',
        });
        if (own !== 200 && own !== 101) return broke(`the own page was refused with ${own} at ${path}`);
      }
      return held('403 or 400 on every path');
    },
  },
];
