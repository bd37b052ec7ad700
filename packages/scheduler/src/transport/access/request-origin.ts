/** Whether a request without a token was meant for this server, or comes from a foreign web page. Pure. */
import { isIP, isIPv4 } from 'node:net';

const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]@/\s]+))(?::\d{1,5})?$/i;
const WEB_PAGE = /^https?:\/\//i;

/** The name or address in a Host header, without port, brackets and final dot. Undefined: it is malformed. */
export function nameInHost(host: string | undefined): string | undefined {
  const [, address, name] = HOST.exec(host ?? '') ?? [];
  if (address !== undefined) return isIP(address) === 6 ? address.toLowerCase() : undefined;
  return name?.toLowerCase().replace(/\.$/, '');
}

/**
 * DNS may point evil.example to this server (DNS rebinding): a page there then sends requests from the network of its
 * user, and the browser takes them for same-origin, but the Host header still names evil.example. No name in DNS is an
 * address, and browsers resolve "localhost" themselves.
 */
export function isOwnHost(host: string | undefined, allowedHosts: ReadonlySet<string>): boolean {
  const name = nameInHost(host);
  if (name === undefined) return false;
  return name === 'localhost' || isIPv4(name) || name.includes(':') || allowedHosts.has(name);
}

/**
 * A peer without a token is trusted for its network, and every page that its user visits is in that network, too. So
 * the page must have the name of this server, on any port, or a listed origin. Files, sandboxed pages and extensions of browsers have no name.
 */
export function isOwnPage(
  origin: string,
  host: string | undefined,
  allowedOrigins: ReadonlySet<string>,
): boolean {
  if (allowedOrigins.has('*') || allowedOrigins.has(origin)) return true;
  const name = WEB_PAGE.test(origin) ? nameInHost(origin.replace(WEB_PAGE, '')) : undefined;
  return name !== undefined && name === nameInHost(host);
}
