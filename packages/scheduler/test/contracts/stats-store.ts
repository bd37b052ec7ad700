/** Contract of StatsStore: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { StatsStore } from '../../src/ports/stats-store.ts';
import { type Closable, edgeOf, fresh, perTest, type Timed } from './harness.ts';

export interface StatsStoreHarness extends Timed, Closable {
  /** An empty store. */
  readonly statsStore: StatsStore;
}

const LONG_MS = 60_000;
const SHORT_MS = 300;

export function statsStoreContract(name: string, open: () => Promise<StatsStoreHarness>): void {
  describe(`StatsStore: ${name}`, () => {
    const start = perTest(open);

    it('returns the last text of each instance', async () => {
      const { statsStore } = await start();
      const [one, other] = [fresh('instance'), fresh('instance')];
      const long = `{"größe":"${'x'.repeat(300_000)}"}`;
      await statsStore.write(one, 'first', LONG_MS);
      await statsStore.write(other, 'of the other', LONG_MS);
      await statsStore.write(one, long, LONG_MS);
      expect(await statsStore.read(one)).toBe(long);
      expect(await statsStore.read(other)).toBe('of the other');
      expect(await statsStore.read(fresh('unknown'))).toBeUndefined();
    });

    it('drops a text that was not written again in time', async () => {
      const { statsStore, ...timed } = await start();
      const [silent, talking] = [fresh('instance'), fresh('instance')];
      for (const instanceId of [silent, talking]) await statsStore.write(instanceId, 'part', SHORT_MS);
      await statsStore.write(talking, 'part', LONG_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await statsStore.read(silent)).toBeUndefined();
      expect(await statsStore.read(talking)).toBe('part');
    });

    it('returns the last snapshot, of any instance', async () => {
      const { statsStore } = await start();
      expect(await statsStore.latest()).toBeUndefined();
      await statsStore.publish('first', LONG_MS);
      await statsStore.publish('second', LONG_MS);
      expect(await statsStore.latest()).toMatchObject({ text: 'second' });
    });

    it('reports the remaining time of the snapshot and drops it then', async () => {
      const { statsStore, ...timed } = await start();
      await statsStore.publish('snapshot', LONG_MS);
      await timed.advance(SHORT_MS);
      const found = await statsStore.latest();
      expect(found?.leftMs).toBeLessThanOrEqual(LONG_MS - SHORT_MS);
      expect(found?.leftMs).toBeGreaterThan(LONG_MS - SHORT_MS - 30_000);
      await statsStore.publish('snapshot', SHORT_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await statsStore.latest()).toBeUndefined();
    });
  });
}
