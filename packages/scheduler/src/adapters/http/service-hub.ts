/** Fetches the services of a ModelHub over HTTP, bounded in time and size. Cold path. */
import type { ServiceHub } from '../../ports/service-hub.ts';

export interface ServiceHubDeps {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly maxBytes?: number;
}

/** Limit for parsing JSON at once: it takes a few milliseconds (I6). */
export const MAX_CATALOGUE_BYTES = 512 * 1024;

export function createServiceHub(deps: ServiceHubDeps): ServiceHub {
  const { timeoutMs, maxBytes = MAX_CATALOGUE_BYTES } = deps;
  const { url, headers } = questionFor(deps.baseUrl);
  return {
    async list() {
      const answer = await fetch(url, {
        headers,
        // A redirect leads to a server that was not configured.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      }).catch((fault: unknown) => {
        throw new Error(wordsFor(fault, timeoutMs), { cause: fault });
      });
      if (!answer.ok || answer.body === null) {
        await answer.body?.cancel();
        throw new Error(`the hub answered with status ${answer.status}`);
      }
      const bytes = await collect(answer.body, maxBytes).catch((fault: unknown) => {
        throw fault instanceof TooLong ? fault : new Error(wordsFor(fault, timeoutMs), { cause: fault });
      });
      try {
        return JSON.parse(bytes.toString('utf8')) as unknown;
      } catch (fault) {
        throw new Error('the hub did not answer with JSON', { cause: fault });
      }
    },
  };
}

/** `fetch` rejects an address with a password, and its error contains the password. */
function questionFor(baseUrl: string) {
  const url = new URL(baseUrl);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/services`;
  const accept = 'application/json';
  if (username === '' && password === '') return { url, headers: { accept } };
  const words = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return { url, headers: { accept, authorization: `Basic ${words}` } };
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word; // a lone percent sign stands for itself
  }
}

class TooLong extends Error {}

async function collect(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of body) {
    received += chunk.length;
    if (received > maxBytes) throw new TooLong(`the hub answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, received);
}

function wordsFor(fault: unknown, timeoutMs: number): string {
  if (fault instanceof Error && fault.name === 'TimeoutError') {
    return `the hub did not answer within ${timeoutMs} ms`;
  }
  const cause = fault instanceof Error ? (fault.cause as NodeJS.ErrnoException | undefined) : undefined;
  if (cause?.message === 'unexpected redirect') return 'the hub sent a redirect, which is not followed';
  return `the hub could not be reached: ${cause?.code ?? (fault instanceof Error ? fault.message : String(fault))}`;
}
