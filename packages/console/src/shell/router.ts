/** The address after `#` is the page and its filters, so that every view can be shared as a link. */
import { signal } from '@preact/signals';

export interface Route {
  readonly page: string;
  /** Id of a node, job or session; empty on pages of lists. */
  readonly id: string;
  readonly query: URLSearchParams;
}

/** Pages with what people say: for those who may talk, never for viewers. */
export const SPOKEN: ReadonlySet<string> = new Set(['talk', 'rooms', 'room']);

export const IS_TALK = location.pathname.endsWith('/talk.html');
/** The page of guests. */
export const IS_JOIN = location.pathname.endsWith('/join.html');

export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [page = '', ...rest] = path.split('/');
  return {
    page: page === '' ? 'overview' : page,
    id: decode(rest.join('/')),
    query: new URLSearchParams(query),
  };
}

/** An address that was cut or mistyped shows that there is no such page or id. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const route = signal<Route>(readRoute(location.hash));

addEventListener('hashchange', () => {
  route.value = readRoute(location.hash);
  scrollTo(0, 0);
});

/** The index page, the talk page and that of guests are documents of their own, so every link names the document, too. */
export function linkTo(page: string, id = '', query: Readonly<Record<string, string>> = {}): string {
  if (page === 'talk') return './talk.html';
  if (page === 'join') return `./join.html#/room/${encodeURIComponent(id)}`;
  const filters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `./#/${page}${id === '' ? '' : `/${encodeURIComponent(id)}`}${filters === '' ? '' : `?${filters}`}`;
}

/** Changes filters of the current page without a new entry in the browser's history. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const { page, id, query } = route.peek();
  const next = readRoute(location.hash);
  // The person has followed a link; the event that says so comes after this call.
  if (next.page !== page || next.id !== id) return;
  history.replaceState(null, '', linkTo(page, id, { ...Object.fromEntries(query), ...changes }));
  route.value = readRoute(location.hash);
}
