/** Hot path: the address of a client, also behind trusted proxies. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createNetworks, plainAddress } from './networks.ts';

export type AddressOf = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/** `trustedProxies`: CIDR. */
export function createAddressOf(trustedProxies: readonly string[]): AddressOf {
  const proxies = createNetworks(trustedProxies);
  return ({ socket, headers }) => {
    const own = socket.remoteAddress ?? '';
    if (proxies.isEmpty || !proxies.includes(own)) return own;
    return clientBehind(proxies.includes, own, headers['x-forwarded-for']);
  };
}

/** Each proxy appends the address of its peer: what stands before the first one that is no proxy may be invented. */
function clientBehind(
  isProxy: (address: string) => boolean,
  own: string,
  forwarded: string | string[] | undefined,
): string {
  let address = own;
  for (const entry of String(forwarded ?? '')
    .split(',')
    .reverse()) {
    const named = plainAddress(withoutPort(entry.trim()));
    if (isIP(named) === 0) return address;
    address = named;
    if (!isProxy(named)) return address;
  }
  return address;
}

/** `1.2.3.4:567` and `[::1]:567`; a bare IPv6 address has no port. */
const withoutPort = (entry: string): string =>
  /^\[(.+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
