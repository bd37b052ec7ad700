/** The law of a Synthesizer, executed on every engine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasSpeech } from '../../src/audio/has-speech.ts';
import { samplesOf } from '../../src/audio/wav.ts';
import type { Synthesizer } from '../../src/engines/engines.ts';
import { NEVER } from '../support/never.ts';
import { refusal } from './translator-contract.ts';

export interface SynthesizerUnderTest {
  readonly open: () => Synthesizer;
  readonly language: string;
  /** Opens one that lets one call wait, with a first call that does not end. */
  readonly openBusy: () => Synthesizer;
}

export function synthesizerContract(name: string, { open, openBusy, language }: SynthesizerUnderTest): void {
  describe(`synthesizer: ${name}`, () => {
    let synthesizer: Synthesizer;
    beforeAll(() => {
      synthesizer = open();
    });
    afterAll(() => synthesizer.close());

    const audible = (pcm: Int16Array): boolean => hasSpeech(samplesOf(new Uint8Array(pcm.buffer)));

    it('lists the language', () => {
      expect(synthesizer.languages).toContain(language);
    });

    it('speaks, a longer text longer', async () => {
      const short = await synthesizer.speak('uno', language, NEVER);
      const long = await synthesizer.speak('uno dos tres cuatro cinco seis', language, NEVER);
      expect(audible(short)).toBe(true);
      expect(long.length).toBeGreaterThan(short.length);
    });

    it('takes a text without words', async () => {
      expect(await synthesizer.speak('', language, NEVER)).toBeInstanceOf(Int16Array);
      expect(await synthesizer.speak('...', language, NEVER)).toBeInstanceOf(Int16Array);
    });

    it.each(['--help', '-v en', '<speak>dos</speak>', 'a\u0000b', '$(dos)'])(
      'speaks %j as text',
      async (text) => {
        expect(audible(await synthesizer.speak(text, language, NEVER))).toBe(true);
      },
    );

    it('answers overlapping calls', async () => {
      const texts = ['uno', 'cuatro cinco seis siete ocho'];
      const alone = [];
      for (const text of texts) alone.push((await synthesizer.speak(text, language, NEVER)).length);
      const together = await Promise.all(texts.map((text) => synthesizer.speak(text, language, NEVER)));
      expect(together.map(({ length }) => length)).toEqual(alone);
    });

    it('refuses a language that is not listed', async () => {
      await expect(synthesizer.speak('x', 'xx', NEVER)).rejects.toThrow(/xx/);
    });

    it('rejects an aborted call with the reason of the signal', async () => {
      const reason = new Error('enough');
      await expect(synthesizer.speak('x', language, AbortSignal.abort(reason))).rejects.toBe(reason);
      const controller = new AbortController();
      const call = synthesizer.speak('uno dos tres '.repeat(100), language, controller.signal);
      controller.abort(reason);
      await expect(call).rejects.toBe(reason);
      expect(audible(await synthesizer.speak('uno', language, NEVER))).toBe(true);
    });

    it('refuses calls beyond its limit, and all after it was closed', async () => {
      const busy = openBusy();
      const held = Array.from({ length: 4 }, () => busy.speak('hold', language, NEVER));
      const outcomes = Promise.allSettled(held);
      await expect(Promise.any(held.map(refusal))).resolves.toMatchObject({ code: 'NODE_OVERLOADED' });
      await busy.close();
      expect((await outcomes).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
      await expect(busy.speak('x', language, NEVER)).rejects.toThrow(/closed/);
    });
  });
}
