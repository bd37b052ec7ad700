/** Contract of AudioFetcher: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { AudioAt } from '../../src/domain/job-spec.ts';
import type { AudioFetcher } from '../../src/ports/audio-fetcher.ts';
import { type Closable, perTest } from './harness.ts';

export interface AudioFetcherHarness extends Closable {
  readonly fetcher: AudioFetcher;
  /** Stored by another instance, under a token. */
  hold(audio: Buffer): AudioAt;
  /** An instance that accepts the request and never answers. */
  silent(): AudioAt;
  /** An address without a server. */
  absent(): AudioAt;
}

const LIMIT_MS = 2_000;

export function audioFetcherContract(name: string, open: () => Promise<AudioFetcherHarness>): void {
  describe(`AudioFetcher: ${name}`, () => {
    const start = perTest(open);

    it('returns the exact bytes, few or many', async () => {
      const { fetcher, hold } = await start();
      for (const size of [1, 1_000, 700_000]) {
        const audio = Buffer.alloc(size, 'ä');
        expect((await fetcher.fetch(hold(audio), LIMIT_MS))?.equals(audio)).toBe(true);
      }
    });

    it('returns nothing for a wrong token', async () => {
      const { fetcher, hold } = await start();
      const at = hold(Buffer.from('speech'));
      expect(await fetcher.fetch({ ...at, token: 'guessed' }, LIMIT_MS)).toBeUndefined();
    });

    it('returns nothing if the length differs from the announced one', async () => {
      const { fetcher, hold } = await start();
      const at = hold(Buffer.from('speech'));
      expect(await fetcher.fetch({ ...at, bytes: 5 }, LIMIT_MS)).toBeUndefined();
      expect(await fetcher.fetch({ ...at, bytes: 7 }, LIMIT_MS)).toBeUndefined();
    });

    it('ends at its limit', async () => {
      const { fetcher, silent } = await start();
      expect(await fetcher.fetch(silent(), 50)).toBeUndefined();
      expect(await fetcher.fetch(silent(), 0)).toBeUndefined();
    });

    it('returns nothing from a dead instance', async () => {
      const { fetcher, absent } = await start();
      expect(await fetcher.fetch(absent(), LIMIT_MS)).toBeUndefined();
    });
  });
}
