/** Contract of AudioStore: its law as tests, for any adapter. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AudioStore } from '../../src/ports/audio-store.ts';
import { type Closable, fresh, perTest, times } from './harness.ts';

export interface AudioHarness extends Closable {
  readonly store: AudioStore;
}

export type OpenAudioStore = (limits: {
  maxBytes: number;
  maxBytesPerJob: number;
  tenantShare?: number;
}) => Promise<AudioHarness>;

const TENANT = 'acme';

export function audioStoreContract(name: string, open: OpenAudioStore): void {
  describe(`AudioStore: ${name}`, () => {
    const start = perTest(open);

    it('returns the bytes of each job and counts them', async () => {
      const { store } = await start({ maxBytes: 1_000, maxBytesPerJob: 500 });
      const [a, b] = [fresh('job'), fresh('job')];
      const bytes = Buffer.from(times(256, (value) => value));
      expect(store.put(a, TENANT, bytes)).toBe('held');
      expect(store.put(b, TENANT, Buffer.alloc(3, 7))).toBe('held');
      expect(store.get(a)?.equals(bytes)).toBe(true);
      expect(store.get(b)?.equals(Buffer.alloc(3, 7))).toBe(true);
      expect(store.size()).toBe(259);
    });

    it('has nothing for an unknown job', async () => {
      const { store } = await start({ maxBytes: 10, maxBytesPerJob: 10 });
      expect(store.get(fresh('job'))).toBeUndefined();
      store.drop(fresh('job'));
      expect(store.size()).toBe(0);
    });

    it('I11 bounded: refuses audio beyond the limit of one job', async () => {
      const { store } = await start({ maxBytes: 1_000, maxBytesPerJob: 100 });
      const [fits, over] = [fresh('job'), fresh('job')];
      expect(store.put(fits, TENANT, Buffer.alloc(100))).toBe('held');
      expect(store.put(over, TENANT, Buffer.alloc(101))).toBe('full');
      expect(store.get(over)).toBeUndefined();
      expect(store.size()).toBe(100);
    });

    it('I11 bounded: refuses audio beyond the total limit and keeps the rest', async () => {
      const { store } = await start({ maxBytes: 250, maxBytesPerJob: 100 });
      const jobs = times(2, () => fresh('job'));
      for (const job of jobs) store.put(job, TENANT, Buffer.alloc(100, 1));
      const [over, fits] = [fresh('job'), fresh('job')];
      expect(store.put(over, TENANT, Buffer.alloc(51))).toBe('full');
      expect(store.get(over)).toBeUndefined();
      expect(store.put(fits, TENANT, Buffer.alloc(50))).toBe('held');
      expect(store.size()).toBe(250);
      for (const job of jobs) expect(store.get(job)?.length).toBe(100);
    });

    it('frees the room of a dropped job once', async () => {
      const { store } = await start({ maxBytes: 200, maxBytesPerJob: 100 });
      const [a, b] = [fresh('job'), fresh('job')];
      store.put(a, TENANT, Buffer.alloc(100));
      store.put(b, TENANT, Buffer.alloc(100));
      store.drop(a);
      store.drop(a);
      expect(store.get(a)).toBeUndefined();
      expect(store.size()).toBe(100);
      expect(store.put(fresh('job'), TENANT, Buffer.alloc(100))).toBe('held');
      expect(store.put(fresh('job'), TENANT, Buffer.alloc(1))).toBe('full');
    });

    it('counts audio that is put twice once, also at the limit', async () => {
      const { store } = await start({ maxBytes: 100, maxBytesPerJob: 80 });
      const job = fresh('job');
      for (let round = 0; round < 3; round += 1)
        expect(store.put(job, TENANT, Buffer.alloc(80, 5))).toBe('held');
      expect(store.get(job)?.equals(Buffer.alloc(80, 5))).toBe(true);
      expect(store.size()).toBe(80);
      store.drop(job);
      expect(store.size()).toBe(0);
    });

    it('counts claimed room like stored audio until it is released', async () => {
      const { store } = await start({ maxBytes: 100, maxBytesPerJob: 100 });
      const job = fresh('job');
      expect(store.claim(TENANT, 30)).toBe('claimed');
      expect(store.claim(TENANT, 20)).toBe('claimed');
      expect(store.put(job, TENANT, Buffer.alloc(40))).toBe('held');
      expect(store.size()).toBe(90);
      store.unclaim(TENANT, 50);
      expect(store.size()).toBe(40);
      expect(store.get(job)?.length).toBe(40);
    });

    it('I11 bounded: claims and audio share the total limit', async () => {
      const { store } = await start({ maxBytes: 100, maxBytesPerJob: 80 });
      expect(store.put(fresh('job'), TENANT, Buffer.alloc(60))).toBe('held');
      expect(store.claim(TENANT, 41)).toBe('full');
      expect(store.size()).toBe(60);
      expect(store.claim(TENANT, 40)).toBe('claimed');
      expect(store.claim(TENANT, 1)).toBe('full');
      expect(store.put(fresh('job'), TENANT, Buffer.alloc(1))).toBe('full');
      store.unclaim(TENANT, 1);
      expect(store.put(fresh('job'), TENANT, Buffer.alloc(1))).toBe('held');
      expect(store.size()).toBe(100);
    });

    it('releases no more than was claimed', async () => {
      const { store } = await start({ maxBytes: 100, maxBytesPerJob: 100 });
      store.put(fresh('job'), TENANT, Buffer.alloc(10));
      store.claim(TENANT, 5);
      store.unclaim(TENANT, 50);
      store.unclaim(TENANT, 1);
      expect(store.size()).toBe(10);
      expect(store.claim(TENANT, 90)).toBe('claimed');
      expect(store.claim(TENANT, 1)).toBe('full');
    });

    it('reports the used share of the limit, including claims', async () => {
      const { store } = await start({ maxBytes: 200, maxBytesPerJob: 100 });
      expect(store.usedShare()).toBe(0);
      store.put(fresh('job'), TENANT, Buffer.alloc(50));
      expect(store.usedShare()).toBe(0.25);
      store.claim(TENANT, 150);
      expect(store.usedShare()).toBe(1);
    });

    it('I10 isolation: one tenant gets its part, and another still gets its own', async () => {
      const { store } = await start({ maxBytes: 100, maxBytesPerJob: 30, tenantShare: 0.5 });
      const [a, b, c] = [fresh('job'), fresh('job'), fresh('job')];
      expect(store.put(a, 'greedy', Buffer.alloc(30))).toBe('held');
      expect(store.claim('greedy', 20)).toBe('claimed');
      expect(store.claim('greedy', 1)).toBe('tenant_full');
      expect(store.put(b, 'greedy', Buffer.alloc(1))).toBe('tenant_full');
      expect(store.put(a, 'greedy', Buffer.alloc(29))).toBe('held');
      expect(store.put(b, 'modest', Buffer.alloc(30))).toBe('held');
      expect(store.claim('modest', 20)).toBe('claimed');
      store.unclaim('greedy', 20);
      store.drop(a);
      expect(store.put(c, 'greedy', Buffer.alloc(30))).toBe('held');
    });

    it('accepts exactly what fits both limits, in random histories', async () => {
      const { store } = await start({ maxBytes: 100, maxBytesPerJob: 40 });
      const step = fc.record({
        job: fc.nat(5),
        length: fc.nat(50),
        act: fc.constantFrom('put', 'drop', 'claim', 'unclaim'),
      });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
          const jobs = times(6, () => fresh('job'));
          let claimed = 0;
          const held = () => jobs.map((job) => store.get(job)?.length ?? 0);
          for (const { job, length, act } of steps) {
            const jobId = jobs[job] as string;
            const before = store.size();
            if (act === 'drop') store.drop(jobId);
            else if (act === 'unclaim') {
              store.unclaim(TENANT, length);
              claimed = Math.max(0, claimed - length);
            } else if (act === 'claim') {
              const isClaimed = store.claim(TENANT, length) === 'claimed';
              expect(isClaimed).toBe(before + length <= 100);
              if (isClaimed) claimed += length;
            } else if (store.put(jobId, TENANT, Buffer.alloc(length)) === 'held')
              expect(store.get(jobId)?.length).toBe(length);
            else expect(length > 40 || before + length > 100).toBe(true);
            expect(Math.max(...held())).toBeLessThanOrEqual(40);
            expect(store.size()).toBe(held().reduce((sum, bytes) => sum + bytes, claimed));
            expect(store.size()).toBeLessThanOrEqual(100);
            expect(store.usedShare()).toBe(store.size() / 100);
          }
          for (const job of jobs) store.drop(job);
          store.unclaim(TENANT, claimed);
          expect(store.size()).toBe(0);
        }),
      );
    });
  });
}
