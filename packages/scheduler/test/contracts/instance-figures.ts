/** Contract of InstanceFigures: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { InstanceFigures } from '../../src/ports/instance-figures.ts';
import { type Closable, edgeOf, fresh, perTest, type Timed } from './harness.ts';

export interface InstanceFiguresHarness extends Timed, Closable {
  readonly figures: InstanceFigures;
}

const LONG_MS = 60_000;
const SHORT_MS = 300;

export function instanceFiguresContract(name: string, open: () => Promise<InstanceFiguresHarness>): void {
  describe(`InstanceFigures: ${name}`, () => {
    const start = perTest(open);

    it('returns the last figures of each instance', async () => {
      const { figures } = await start();
      const [one, other] = [fresh('instance'), fresh('instance')];
      await figures.write(one, { nodes: 1, sessions: 2, jobs: 3 }, LONG_MS);
      await figures.write(other, { nodes: 0, sessions: 0, jobs: 0 }, LONG_MS);
      await figures.write(one, { nodes: 4, sessions: 5, jobs: 1_000_000 }, LONG_MS);
      expect(await figures.read(one)).toEqual({ nodes: 4, sessions: 5, jobs: 1_000_000 });
      expect(await figures.read(other)).toEqual({ nodes: 0, sessions: 0, jobs: 0 });
      expect(await figures.read(fresh('unknown'))).toBeUndefined();
    });

    it('returns the pools of an instance that has some', async () => {
      const { figures } = await start();
      const one = fresh('instance');
      const divided = { nodes: 1, sessions: 2, jobs: 3, pools: '00c0ffee' };
      await figures.write(one, divided, LONG_MS);
      expect(await figures.read(one)).toEqual(divided);
    });

    it('drops figures that were not renewed in time', async () => {
      const { figures, ...timed } = await start();
      const [silent, talking] = [fresh('instance'), fresh('instance')];
      const some = { nodes: 1, sessions: 1, jobs: 1 };
      for (const instanceId of [silent, talking]) await figures.write(instanceId, some, SHORT_MS);
      await figures.write(talking, some, LONG_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await figures.read(silent)).toBeUndefined();
      expect(await figures.read(talking)).toEqual(some);
    });
  });
}
