/** Finds out why a connection could not be opened: a browser cannot read the status of a refused upgrade. */
import type { SessionClock } from '../clock.ts';
import { asText } from '../read-frame.ts';

/** The part of `fetch` that the SDK uses. */
export type Fetch = (
  url: string,
  init: { readonly signal: AbortSignal; readonly mode?: 'no-cors' },
) => Promise<{ readonly status: number; json(): Promise<unknown> }>;

export type Cause =
  /** A retry would not help. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string; readonly hint?: string }
  | { readonly kind: 'lost'; readonly reason: string };

const CHECK_TIMEOUT_MS = 1_500;
const SOCKET_PATH = '/ws/session';

export async function findCause(fetch: Fetch, socketUrl: string, clock: SessionClock): Promise<Cause> {
  const controller = new AbortController();
  const { signal } = controller;
  const cancel = clock.after(CHECK_TIMEOUT_MS, () => controller.abort());
  const url = checkUrl(socketUrl);
  const where = `${url.origin}${url.pathname.slice(0, -CHECK_PATH.length)}`;
  try {
    const answer = await fetch(url.href, { signal });
    // A proxy answers so while the scheduler restarts.
    if (answer.status >= 500 || answer.status === 429) return lost(`${where} answers ${answer.status}`);
    const verdict = Object(await answer.json().catch(() => undefined)) as Record<string, unknown>;
    if (verdict.is_admitted === true) return lost('the scheduler refuses the connection for now');
    if (verdict.is_admitted !== false) return notScheduler(where);
    const hint = asText(verdict.hint);
    return {
      kind: 'refused',
      code: asText(verdict.code) ?? 'UNAUTHORIZED',
      message: asText(verdict.message) ?? 'the token was refused',
      ...(hint !== undefined && { hint }),
    };
  } catch {
    // A page may not read the answer of a server that does not allow it, which a scheduler does.
    const isThere = await fetch(url.href, { signal, mode: 'no-cors' }).then(
      () => true,
      () => false,
    );
    return lost(isThere ? `${where} is not a Lingua scheduler` : `${where} cannot be reached`);
  } finally {
    cancel();
  }
}

const CHECK_PATH = '/v1/check';

/** Beside the socket's path; a wrong path keeps being wrong. */
function checkUrl(socketUrl: string): URL {
  const url = new URL(socketUrl);
  const token = url.searchParams.get('token');
  url.protocol = url.protocol.replace('ws', 'http');
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = (path.endsWith(SOCKET_PATH) ? path.slice(0, -SOCKET_PATH.length) : path) + CHECK_PATH;
  url.search = '';
  url.searchParams.set('role', 'session');
  if (token !== null) url.searchParams.set('token', token);
  return url;
}

const lost = (reason: string): Cause => ({ kind: 'lost', reason });

const notScheduler = (where: string): Cause => ({
  kind: 'refused',
  code: 'NOT_FOUND',
  message: `${where} is not a Lingua scheduler`,
  hint: 'Correct the url: it is the address of the scheduler, or ws://host/ws/session.',
});
