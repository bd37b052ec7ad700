/** Hides the value of `token` in a URL for the log. Pure. */

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
  // A parser decodes an escaped name to "token" as well.
  return name.includes('%') || /token/i.test(name) ? `${name}=${HIDDEN}` : pair;
}
