/** Fetches audio from the instance that stores it, over HTTP, bounded in time and size. */
import type { AudioFetcher } from '../../ports/audio-fetcher.ts';

export function createAudioFetcher(
  deps: {
    /** The authorization header for audio without a token. Absent: such audio cannot be fetched. */
    readonly sign?: ((url: string) => string) | undefined;
  } = {},
): AudioFetcher {
  return {
    async fetch({ url, token, bytes }, limitMs) {
      const authorization = token === undefined ? deps.sign?.(url) : `Bearer ${token}`;
      if (limitMs <= 0 || authorization === undefined) return undefined;
      try {
        const answer = await fetch(url, {
          headers: { authorization },
          redirect: 'error',
          signal: AbortSignal.timeout(limitMs),
        });
        if (!answer.ok || answer.body === null) {
          await answer.body?.cancel();
          return undefined;
        }
        return await collect(answer.body, bytes);
      } catch {
        return undefined;
      }
    },
  };
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
