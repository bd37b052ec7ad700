/** Requests and sockets over TLS. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect, type TLSSocket, type ConnectionOptions as TlsClient } from 'node:tls';
import { onTestFinished } from 'vitest';
import WebSocket from 'ws';
import type { Certified } from '../../support/certify.ts';
import type { Settings } from './start-app.ts';

export const serving = ({ certificate, key }: Certified): Settings => ({
  'server.tls.cert_file': certificate,
  'server.tls.key_file': key,
});

/** How a client trusts the server, and which certificate it shows. */
export const asClient = (server: Certified, client?: Certified) => ({
  ca: readFileSync(server.certificate),
  ...(client !== undefined && { cert: readFileSync(client.certificate), key: readFileSync(client.key) }),
});

/** Over a connection of its own. */
export const ask = (url: string, how: TlsClient & { body?: unknown; token?: string; method?: string } = {}) =>
  new Promise<{ status: number; body: Record<string, unknown> }>((resolve, reject) => {
    const { body, token, method = body === undefined ? 'GET' : 'POST', ...tls } = how;
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const asking = request(
      url.replace(/^http:/, 'https:'),
      { method, headers, agent: false, ...tls },
      (reply) => {
        let text = '';
        reply.on('data', (chunk) => {
          text += chunk;
        });
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body: JSON.parse(text) }));
      },
    );
    asking.on('error', reject);
    asking.end(body === undefined ? undefined : JSON.stringify(body));
  });

/** The result of an upgrade: open, or the status of its refusal. */
export const upgrade = (url: string, tls: TlsClient): Promise<number | 'open'> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^ws:/, 'wss:'), { ...tls } as object);
    onTestFinished(() => socket.terminate());
    socket.on('open', () => resolve('open'));
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.on('error', reject);
  });

/** A connection after its handshake. */
export const dial = (url: string, tls: TlsClient): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ...tls }, () =>
      resolve(socket),
    );
    onTestFinished(() => void socket.destroy());
    socket.on('error', reject);
  });
