/** Reads path, address and token of an upgrade request. The URL may contain a token and is never stored. Pure. */
import type { IncomingMessage } from 'node:http';
import { certificateNamesOf } from '../access/client-certificate.ts';
import type { Peer } from '../access/gate.ts';
import type { AddressOf } from '../access/peer-address.ts';
import { readBearerToken } from '../access/tokens.ts';
import { omitUndefined } from '../wire/omit-undefined.ts';

export function readPeer(
  request: Pick<IncomingMessage, 'url' | 'headers' | 'socket'>,
  addressOf: AddressOf,
): {
  path: string;
  peer: Peer;
} {
  const url = request.url ?? '/';
  const queryAt = url.indexOf('?');
  const path = queryAt < 0 ? url : url.slice(0, queryAt);
  const query = new URLSearchParams(queryAt < 0 ? '' : url.slice(queryAt + 1));
  const { authorization, host, origin } = request.headers;
  const token =
    authorization === undefined ? query.get('token') || undefined : readBearerToken(authorization);
  const certificateNames = token === undefined ? certificateNamesOf(request.socket) : undefined;
  return {
    path,
    peer: {
      address: addressOf(request),
      ...omitUndefined({ token, certificateNames, host, origin }),
    },
  };
}
