/** Contract of StatsBoard: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { StatsBoard } from '../../src/ports/stats-board.ts';
import { type Closable, edgeOf, fresh, perTest, type Timed } from './harness.ts';

export interface StatsBoardHarness extends Timed, Closable {
  /** One that nobody has written to. */
  readonly board: StatsBoard;
}

const LONG_MS = 60_000;
const SHORT_MS = 300;

export function statsBoardContract(name: string, open: () => Promise<StatsBoardHarness>): void {
  describe(`StatsBoard: ${name}`, () => {
    const start = perTest(open);

    it('gives back the part an instance wrote last, and keeps instances apart', async () => {
      const { board } = await start();
      const [one, other] = [fresh('instance'), fresh('instance')];
      const long = `{"größe":"${'x'.repeat(300_000)}"}`;
      await board.write(one, 'first', LONG_MS);
      await board.write(other, 'of the other', LONG_MS);
      await board.write(one, long, LONG_MS);
      expect(await board.read(one)).toBe(long);
      expect(await board.read(other)).toBe('of the other');
      expect(await board.read(fresh('nobody'))).toBeUndefined();
    });

    it('forgets a part that was not written again in time', async () => {
      const { board, ...timed } = await start();
      const [silent, talking] = [fresh('instance'), fresh('instance')];
      for (const instanceId of [silent, talking]) await board.write(instanceId, 'part', SHORT_MS);
      await board.write(talking, 'part', LONG_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await board.read(silent)).toBeUndefined();
      expect(await board.read(talking)).toBe('part');
    });

    it('has no snapshot before the first, and then the last one, whoever published it', async () => {
      const { board } = await start();
      expect(await board.latest()).toBeUndefined();
      await board.publish('first', LONG_MS);
      await board.publish('second', LONG_MS);
      expect(await board.latest()).toMatchObject({ text: 'second' });
    });

    it('says how long the snapshot is still kept, and forgets it then', async () => {
      const { board, ...timed } = await start();
      await board.publish('snapshot', LONG_MS);
      await timed.advance(SHORT_MS);
      const found = await board.latest();
      expect(found?.leftMs).toBeLessThanOrEqual(LONG_MS - SHORT_MS);
      expect(found?.leftMs).toBeGreaterThan(LONG_MS - SHORT_MS - 30_000);
      await board.publish('snapshot', SHORT_MS);
      await timed.advance(SHORT_MS + edgeOf(timed));
      expect(await board.latest()).toBeUndefined();
    });
  });
}
