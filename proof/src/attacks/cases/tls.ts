/** The encryption is avoided or weakened, and a certificate is used that belongs to another node or authority. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';
import { type Attack, broke, held, PULL_NODE, type Target } from '../attack.ts';
import { ENCRYPTED, NODE, STRANGER, TOKENS } from '../deployments.ts';
import { exchange } from '../raw-exchange.ts';

const fileOf = (target: Target, name: string): string => readFileSync(join(target.folder, name), 'utf8');

const certificateOf = (target: Target, name: string) => ({
  cert: fileOf(target, `${name}.cert.pem`),
  key: fileOf(target, `${name}.key.pem`),
});

/** The version of TLS, or undefined: there was no handshake. */
const shakeHands = (port: number, options: ConnectionOptions): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
      resolve(socket.getProtocol() ?? undefined);
      socket.destroy();
    });
    socket.on('error', () => resolve(undefined));
  });

export const ATTACKS: readonly Attack[] = [
  {
    name: 'weak-tls',
    point: 13,
    does: 'Speaks to the encrypted port without TLS, and with TLS 1.0 and 1.1',
    modes: ['single'],
    on: ENCRYPTED,
    async run(target) {
      const plain = await exchange(target.port, 'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n');
      if (plain.statuses.length > 0) return broke(`an answer without TLS: ${plain.statuses.join()}`);
      for (const version of ['TLSv1', 'TLSv1.1'] as const) {
        const old = { minVersion: version, maxVersion: version, ciphers: 'ALL@SECLEVEL=0' };
        const agreed = await shakeHands(target.port, old);
        if (agreed !== undefined) return broke(`a connection with ${agreed}`);
      }
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const agreed = await shakeHands(target.port, { minVersion: version, maxVersion: version });
        if (agreed !== version) return broke(`no connection with ${version}`);
      }
      return held('no connection below TLS 1.2');
    },
  },
  {
    name: 'foreign-certificate',
    point: 13,
    does: "Shows a certificate with a node's name that another authority signed, and uses that of a node for more",
    modes: ['single', 'redis'],
    on: ENCRYPTED,
    async run(target) {
      const [stranger, node] = [certificateOf(target, STRANGER), certificateOf(target, NODE)];
      const body = { ...PULL_NODE, node_id: 'node-certified' };
      for (const port of target.ports)
        for (const [what, wanted, call] of [
          ['a foreign certificate', 401, { certificate: stranger, body }],
          ['no certificate', 401, { body }],
          ['another node id', 403, { certificate: node, body: { ...body, node_id: 'node-other' } }],
          [
            'a wrong token beside the certificate',
            401,
            { certificate: node, token: 'wrong-0123456789', body },
          ],
          ['the token of another node', 403, { token: TOKENS.node, body }],
        ] as const) {
          const { status } = await target.call('POST', '/v1/node/register', { ...call, port });
          if (status !== wanted) return broke(`${what}: ${status}`);
        }
      const asOperator = await target.call('GET', '/api/v1/nodes', { certificate: node });
      if (asOperator.status !== 403)
        return broke(`the certificate of a node lists nodes: ${asOperator.status}`);
      const honest = await target.call('POST', '/v1/node/register', { certificate: node, body });
      return honest.status === 200 ? held('401 or 403') : broke(`the real node got ${honest.status}`);
    },
  },
];
