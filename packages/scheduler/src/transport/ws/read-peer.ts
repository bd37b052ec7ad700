/** Who knocks, from an upgrade request: path, address, token. The URL itself may hold a token and is never kept. Pure. */
import type { IncomingMessage } from 'node:http';
import { bearerOf } from '../access/bearer.ts';
import type { Peer } from '../access/gate.ts';
import { given } from '../wire/given.ts';

export function readPeer(request: Pick<IncomingMessage, 'url' | 'headers' | 'socket'>): {
  path: string;
  peer: Peer;
} {
  const url = request.url ?? '/';
  const queryAt = url.indexOf('?');
  const path = queryAt < 0 ? url : url.slice(0, queryAt);
  const query = new URLSearchParams(queryAt < 0 ? '' : url.slice(queryAt + 1));
  const { authorization, host, origin } = request.headers;
  const token = authorization === undefined ? query.get('token') || undefined : bearerOf(authorization);
  return {
    path,
    peer: {
      address: request.socket.remoteAddress ?? '',
      ...given({ token, host, origin }),
    },
  };
}
