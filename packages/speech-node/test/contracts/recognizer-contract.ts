/** The law of a Recognizer, executed on every engine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Recognizer, SAMPLE_RATE } from '../../src/engines/engines.ts';
import { NEVER } from '../support/never.ts';
import { refusal } from './translator-contract.ts';

export interface RecognizerUnderTest {
  readonly open: () => Promise<Recognizer>;
  readonly language: string;
  /** Utterances, and what their text must contain. */
  readonly utterances: () => Promise<readonly (readonly [Float32Array, RegExp])[]>;
  /** Opens one that runs one call and lets one wait. */
  readonly openSmall: () => Promise<Recognizer>;
}

export function recognizerContract(name: string, subject: RecognizerUnderTest): void {
  const { language } = subject;

  describe(`recognizer: ${name}`, () => {
    let recognizer: Recognizer;
    let utterances: readonly (readonly [Float32Array, RegExp])[];
    beforeAll(async () => {
      [recognizer, utterances] = await Promise.all([subject.open(), subject.utterances()]);
    });
    afterAll(() => recognizer.close());

    const first = (): Float32Array => utterances[0]?.[0] ?? new Float32Array();

    it('lists the language', () => {
      expect(recognizer.languages).toContain(language);
    });

    it('gives each of several overlapping calls its own text', async () => {
      const texts = await Promise.all(
        utterances.map(([speech]) => recognizer.recognize(speech, language, NEVER)),
      );
      texts.forEach((text, index) => {
        expect(text).toMatch(utterances[index]?.[1] ?? /^$/);
      });
    });

    it.each([0, 4, SAMPLE_RATE])('gives the empty text for %i samples of silence', async (length) => {
      expect(await recognizer.recognize(new Float32Array(length), language, NEVER)).toBe('');
    });

    it('refuses a language that is not listed', async () => {
      await expect(recognizer.recognize(first(), 'xx', NEVER)).rejects.toThrow(/xx/);
    });

    it('rejects an aborted call with the reason of the signal, and serves the next', async () => {
      const reason = new Error('enough');
      await expect(recognizer.recognize(first(), language, AbortSignal.abort(reason))).rejects.toBe(reason);
      const controller = new AbortController();
      const call = recognizer.recognize(first(), language, controller.signal);
      controller.abort(reason);
      await expect(call).rejects.toBe(reason);
      expect(await recognizer.recognize(first(), language, NEVER)).toMatch(utterances[0]?.[1] ?? /^$/);
    });

    it('refuses calls beyond its limit, and all after it was closed', async () => {
      const small = await subject.openSmall();
      const held = Array.from({ length: 4 }, () => small.recognize(first(), language, NEVER));
      const outcomes = Promise.allSettled(held);
      await expect(Promise.any(held.map(refusal))).resolves.toMatchObject({ code: 'NODE_OVERLOADED' });
      await small.close();
      expect((await outcomes).map(({ status }) => status)).toContain('rejected');
      await expect(small.recognize(first(), language, NEVER)).rejects.toThrow(/closed/);
    });
  });
}
