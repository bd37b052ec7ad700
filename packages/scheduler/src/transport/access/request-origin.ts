/** Whether a request comes from this machine or from a trusted web page. Pure. */
import { isIPv4 } from 'node:net';
import { isLoopbackAddress } from './networks.ts';

const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i;

/**
 * DNS may point evil.example to 127.0.0.1 (DNS rebinding): a page there then sends requests from loopback, and its
 * browser takes them for same-origin, but the Host header still names evil.example.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  const [, address, name] = HOST.exec(host ?? '') ?? [];
  if (address !== undefined) return isLoopbackAddress(address);
  if (name === undefined) return false;
  return (name.startsWith('127.') && isIPv4(name)) || name.toLowerCase() === 'localhost';
}

/**
 * An anonymous peer is trusted for its network, and every page that its user visits is in that network, too. So the
 * page must be this server's own or have a listed origin.
 */
export const isTrustedOrigin = (
  origin: string,
  host: string | undefined,
  listed: readonly string[],
): boolean =>
  origin === `http://${host}` ||
  origin === `https://${host}` ||
  listed.includes(origin) ||
  listed.includes('*');
