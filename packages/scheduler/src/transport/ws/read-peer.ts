/** Who knocks, from an upgrade request: path, address, token. The URL itself may hold a token and is never kept. Pure. */
import type { IncomingMessage } from 'node:http';
import type { Peer } from '../access/gate.ts';
import { given } from '../http/given.ts';

const BEARER = /^Bearer +(\S+) *$/i;

export function readPeer(request: Pick<IncomingMessage, 'url' | 'headers' | 'socket'>): {
  path: string;
  peer: Peer;
} {
  const url = request.url ?? '/';
  const queryAt = url.indexOf('?');
  const path = queryAt < 0 ? url : url.slice(0, queryAt);
  const query = new URLSearchParams(queryAt < 0 ? '' : url.slice(queryAt + 1));
  const { authorization, host, origin } = request.headers;
  // Another scheme is passed on whole, as a token nobody has: whoever sends one believes to be somebody.
  const token =
    authorization === undefined ? query.get('token') : (BEARER.exec(authorization)?.[1] ?? authorization);
  return {
    path,
    peer: {
      address: request.socket.remoteAddress ?? '',
      ...given({ token: token || undefined, host, origin }),
    },
  };
}
