/** Contract of DirectLine: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { DirectLine, LineAddress } from '../../src/ports/direct-line.ts';
import { type Closable, perTest } from './harness.ts';

export interface DirectLineHarness extends Closable {
  readonly line: DirectLine;
  /** Takes questions that come with its key and answers them with "re: " before them. */
  readonly there: LineAddress;
  /** What it took, in order. */
  readonly taken: readonly string[];
  /** Takes none for now. */
  readonly busy: LineAddress;
  /** Takes the question and never answers. */
  readonly silent: LineAddress;
  /** Takes it and breaks off. */
  readonly broken: LineAddress;
  /** Leads to another address. */
  readonly moved: LineAddress;
  /** Nobody is there. */
  readonly absent: LineAddress;
}

const LIMIT_MS = 2_000;

export function directLineContract(name: string, open: () => Promise<DirectLineHarness>): void {
  describe(`DirectLine: ${name}`, () => {
    const start = perTest(open);

    it('brings questions, short or long, and their answers', async () => {
      const { line, there, taken } = await start();
      const questions = ['', '“quoted” 你好', 'x'.repeat(700_000)];
      for (const question of questions.slice(0, 2))
        expect(await line.ask(there, question, LIMIT_MS)).toEqual({
          kind: 'answered',
          text: `re: ${question}`,
        });
      // Its answer is longer than any should be: that it was heard is all that is known.
      expect(await line.ask(there, questions[2] ?? '', LIMIT_MS)).toEqual({ kind: 'unclear' });
      expect(taken).toEqual(questions);
    });

    it('brings many at a time', async () => {
      const { line, there } = await start();
      const asked = Array.from({ length: 100 }, (_, at) => line.ask(there, `${at}`, LIMIT_MS));
      expect(await Promise.all(asked)).toEqual(
        Array.from({ length: 100 }, (_, at) => ({ kind: 'answered', text: `re: ${at}` })),
      );
    });

    it('is taken by nobody without the key', async () => {
      const { line, there, taken } = await start();
      expect(await line.ask({ ...there, key: 'guessed' }, 'who?', LIMIT_MS)).toEqual({ kind: 'unreached' });
      expect(taken).toEqual([]);
    });

    it('says so when it is not taken for now', async () => {
      const { line, busy } = await start();
      expect(await line.ask(busy, 'now?', LIMIT_MS)).toEqual({ kind: 'busy' });
    });

    it('is in doubt about what was taken and not answered in time', async () => {
      const { line, silent, broken } = await start();
      expect(await line.ask(silent, 'well?', 100)).toEqual({ kind: 'unclear' });
      expect(await line.ask(broken, 'well?', LIMIT_MS)).toEqual({ kind: 'unclear' });
    });

    it('reaches nobody where nobody is, in no time, or elsewhere', async () => {
      const { line, absent, there, moved, taken } = await start();
      expect(await line.ask(absent, 'anybody?', LIMIT_MS)).toEqual({ kind: 'unreached' });
      expect(await line.ask({ ...there, url: 'no address' }, 'anybody?', LIMIT_MS)).toEqual({
        kind: 'unreached',
      });
      expect(await line.ask(there, 'anybody?', 0)).toEqual({ kind: 'unreached' });
      expect(await line.ask(moved, 'anybody?', LIMIT_MS)).toEqual({ kind: 'unreached' });
      expect(taken).toEqual([]);
    });
  });
}
