/** The law of a Translator, executed on every engine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pair, Translator } from '../../src/engines/engines.ts';
import { NEVER } from '../support/never.ts';

export interface TranslatorUnderTest {
  readonly open: () => Promise<Translator>;
  readonly pair: Pair;
  /** Texts and a word that their translations must contain. */
  readonly known: readonly (readonly [string, RegExp])[];
  /** Opens one that lets one call wait, with a first call that does not end; fails what it holds on close. */
  readonly openBusy: () => Promise<Translator>;
}

export function translatorContract(name: string, subject: TranslatorUnderTest): void {
  const { pair, known } = subject;

  describe(`translator: ${name}`, () => {
    let translator: Translator;
    beforeAll(async () => {
      translator = await subject.open();
    });
    afterAll(() => translator.close());

    it('offers the pair', () => {
      expect(translator.pairs).toContainEqual(expect.objectContaining(pair));
    });

    it('translates', async () => {
      for (const [text, word] of known) expect(await translator.translate(text, pair, NEVER)).toMatch(word);
    });

    it('leaves the empty text empty', async () => {
      expect(await translator.translate('', pair, NEVER)).toBe('');
      expect(await translator.translate('  \n', pair, NEVER)).toBe('');
    });

    it('gives each of several overlapping calls its own answer', async () => {
      const numbers = Array.from({ length: 12 }, (_, index) => `${index + 100}`);
      const answers = await Promise.all(
        numbers.map((number) => translator.translate(`${number}.`, pair, NEVER)),
      );
      expect(answers.map((answer) => /\d+/.exec(answer)?.[0])).toEqual(numbers);
    });

    it.each(['^x$ [y] {z} <b> a/b \\ @me', 'zero\u0000byte', 'two\nlines', '...', '語', '~'])(
      'is in step after %j',
      async (text) => {
        await translator.translate(text, pair, NEVER);
        const [[plain = '', word = /./] = []] = known;
        expect(await translator.translate(plain, pair, NEVER)).toMatch(word);
      },
    );

    it('returns characters with a meaning for the engine as they were', async () => {
      expect(await translator.translate('[7] {8} <9> ^5$', pair, NEVER)).toMatch(/\[7\].*\{8\}.*<9>.*\^5\$/);
    });

    it('refuses a pair that is not listed', async () => {
      await expect(translator.translate('x', { source: 'xx', target: 'yy' }, NEVER)).rejects.toThrow(/xx/);
    });

    it('rejects an aborted call with the reason of the signal', async () => {
      const reason = new Error('enough');
      await expect(translator.translate('x', pair, AbortSignal.abort(reason))).rejects.toBe(reason);
      const controller = new AbortController();
      const call = translator.translate('a long text. '.repeat(50), pair, controller.signal);
      controller.abort(reason);
      await expect(call).rejects.toBe(reason);
      const [[plain = '', word = /./] = []] = known;
      expect(await translator.translate(plain, pair, NEVER)).toMatch(word);
    });

    it('refuses calls beyond its limit, and all after it was closed', async () => {
      const busy = await subject.openBusy();
      const held = Array.from({ length: 4 }, () => busy.translate('hold', pair, NEVER));
      const outcomes = Promise.allSettled(held);
      await expect(Promise.any(held.map(refusal))).resolves.toMatchObject({ code: 'NODE_OVERLOADED' });
      await busy.close();
      expect((await outcomes).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
      await expect(busy.translate('x', pair, NEVER)).rejects.toThrow(/closed/);
    });
  });
}

/** Resolves with the error of a call. */
export const refusal = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => Promise.reject(new Error('it succeeded')),
    (error: unknown) => error,
  );
