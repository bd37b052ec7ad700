/** Contract of IdSource: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import { isOutsideId } from '../../src/domain/ids.ts';
import type { IdSource } from '../../src/ports/id-source.ts';
import { type Closable, fresh, perTest, type Timed, times } from './harness.ts';

export interface IdSourceHarness extends Timed, Closable {
  readonly ids: IdSource;
  /** Another process that starts now. */
  restart(): IdSource;
}

const commonPrefix = (a: string, b: string): number => {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length += 1;
  return length;
};

export function idSourceContract(name: string, open: () => Promise<IdSourceHarness>): void {
  describe(`IdSource: ${name}`, () => {
    const start = perTest(open);

    it('never repeats an id, in one process or in two', async () => {
      const { ids, restart } = await start();
      const other = restart();
      const names = [ids, other].flatMap((source) =>
        times(2_000, () => [
          source.jobId('tenant', 'request'),
          source.jobId('tenant', undefined),
          source.nodeId(),
          source.sessionId(),
          source.traceId(),
        ]).flat(),
      );
      expect(new Set(names).size).toBe(names.length);
    });

    it('makes ids that are valid as outside ids', async () => {
      const { ids } = await start();
      const odd = `request ${'漢'.repeat(100)} {slot}`;
      for (const id of [ids.jobId('a b', odd), ids.jobId('t', undefined), ids.nodeId(), ids.sessionId()])
        expect(isOutsideId(id)).toBe(true);
    });

    it('begins the job ids of one request alike, in every process', async () => {
      const { ids, restart } = await start();
      const [tenant, request] = [fresh('tenant'), fresh('request')];
      const first = ids.jobId(tenant, request);
      const shared = commonPrefix(first, restart().jobId(tenant, request));
      // 64 bits in the shortest spelling, after the common beginning of all job ids.
      const everywhere = commonPrefix(ids.jobId('a', undefined), ids.jobId('b', undefined));
      expect(shared - everywhere).toBeGreaterThanOrEqual(11);
      for (const [otherTenant, otherRequest] of [
        [fresh('tenant'), request],
        [tenant, fresh('request')],
        [`${tenant}:${request}`, ''],
        ['', `${tenant}:${request}`],
      ] as const)
        expect(commonPrefix(first, ids.jobId(otherTenant, otherRequest))).toBeLessThan(shared);
    });

    it('counts utterances upwards, and later processes begin later', async () => {
      const { ids, restart, advance } = await start();
      const indexes = times(5_000, () => ids.utteranceIndex());
      expect(indexes.every((index, at) => at === 0 || index > (indexes[at - 1] as number))).toBe(true);
      expect(indexes.every(Number.isSafeInteger)).toBe(true);
      await advance(20);
      expect(restart().utteranceIndex()).toBeGreaterThan(indexes.at(-1) as number);
    });

    it('hashes equal texts alike in every process', async () => {
      const { ids, restart } = await start();
      const text = fresh('text');
      expect(ids.digest(text)).toBe(restart().digest(text));
      const digests = ['', ' ', 'a', 'b', text, `${text} `, 'ä', 'a\u0308'].map((each) => ids.digest(each));
      expect(ids.digest(Buffer.from(text))).toBe(restart().digest(text));
      expect(new Set(digests).size).toBe(digests.length);
      expect(Math.max(...digests.map((digest) => digest.length))).toBeLessThanOrEqual(64);
    });
  });
}
