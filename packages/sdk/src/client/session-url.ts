/** Where the sessions of a scheduler are opened. */

const PATH = '/ws/session';
const SCHEMES: Readonly<Record<string, string>> = {
  'http:': 'ws:',
  'https:': 'wss:',
  'ws:': 'ws:',
  'wss:': 'wss:',
};

export function sessionUrl(given: string, token: string | undefined): string {
  const page = (globalThis as { location?: { href?: string } }).location?.href;
  let url: URL;
  try {
    url = new URL(given, page);
  } catch {
    throw new TypeError('url must be an address, such as ws://127.0.0.1:5010/ws/session');
  }
  const scheme = SCHEMES[url.protocol];
  if (scheme === undefined) throw new TypeError('url must begin with ws, wss, http or https');
  const path = url.pathname.replace(/\/+$/, '');
  // An http address is that of the scheduler; one of a socket is taken at its word, unless it has no path at all.
  const isBase = path === '' || (url.protocol.startsWith('http') && !path.endsWith(PATH));
  url.pathname = isBase ? path + PATH : path;
  url.protocol = scheme;
  url.hash = '';
  if (token !== undefined) url.searchParams.set('token', token);
  return url.href;
}
