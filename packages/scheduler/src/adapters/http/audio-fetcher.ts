/** Fetches audio from the instance that stores it, over HTTP, bounded in time and size. */
import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import type { AudioFetcher } from '../../ports/audio-fetcher.ts';

export function createAudioFetcher(
  deps: {
    /** The authorization header for audio without a token. Absent: such audio cannot be fetched. */
    readonly sign?: ((url: string) => string) | undefined;
    /** Authorities to trust, for https; absent or undefined: those of the system. */
    readonly ca?: (() => string | undefined) | undefined;
  } = {},
): AudioFetcher {
  return {
    async fetch({ url, token, bytes }, limitMs) {
      const authorization = token === undefined ? deps.sign?.(url) : `Bearer ${token}`;
      if (limitMs <= 0 || authorization === undefined) return undefined;
      try {
        const options = { headers: { authorization }, signal: AbortSignal.timeout(limitMs) };
        const answer = await get(url, { ...options, ca: deps.ca?.() });
        if (answer.statusCode === 200) return await collect(answer, bytes);
        answer.destroy();
        return undefined;
      } catch {
        return undefined;
      }
    },
  };
}

async function get(url: string, options: RequestOptions): Promise<IncomingMessage> {
  const request = url.startsWith('https:') ? requestHttps(url, options) : requestHttp(url, options);
  // Also after the response, when the time is over.
  request.on('error', () => {});
  try {
    const [answer] = (await once(request.end(), 'response')) as [IncomingMessage];
    return answer;
  } catch (fault) {
    // The server may close an idle connection at the moment it is used again.
    if (request.reusedSocket && options.signal?.aborted !== true) return get(url, options);
    throw fault;
  }
}

/** A server that sends more than was announced is not the expected one. */
async function collect(body: AsyncIterable<Uint8Array>, bytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of body) {
    received += chunk.length;
    if (received > bytes) return undefined;
    chunks.push(chunk);
  }
  return received === bytes ? Buffer.concat(chunks, received) : undefined;
}
