/** A URL as it may be logged: the value of `token` hidden. Pure. */

const HIDDEN = '(hidden)';

export function redactUrl(url: string): string {
  const [path = '', ...queries] = url.split('?');
  if (queries.length === 0) return path;
  return `${path}?${queries.join('?').split(/[&;]/).map(redactPair).join('&')}`;
}

function redactPair(pair: string): string {
  const at = pair.indexOf('=');
  if (at < 0) return pair;
  const name = pair.slice(0, at);
  // Written with escapes it still reads as "token" to whoever parses it.
  return name.includes('%') || /token/i.test(name) ? `${name}=${HIDDEN}` : pair;
}
