/** Texts are sealed for Redis and opened again, with one of several keys. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealedPayload, type PayloadKey, PLAIN } from '../../../src/adapters/redis/sealed-payload.ts';

const key = (id: string): PayloadKey => ({ id, secret: randomBytes(32) });
const [ONE, TWO] = [key('k1'), key('k2')];

describe('sealed payload', () => {
  it('every text is opened as it was sealed, by any process with the key', () => {
    const [writer, reader] = [createSealedPayload([ONE]), createSealedPayload([ONE])];
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 2_000 }), (text) => {
        const sealed = writer.seal(text);
        expect(sealed).toMatch(/^sealed:k1:[\w-]{22}:[A-Za-z0-9+/]+=*$/);
        expect(reader.open(sealed)).toBe(text);
      }),
    );
  });

  it('equal texts are sealed differently, in one process and in two', () => {
    const [a, b] = [createSealedPayload([ONE]), createSealedPayload([ONE])];
    expect(new Set([a.seal('hello'), a.seal('hello'), b.seal('hello')]).size).toBe(3);
  });

  it('the first key seals and all keys open', () => {
    const [before, during, after] = [[ONE], [TWO, ONE], [TWO]].map((keys) =>
      createSealedPayload(keys as [PayloadKey]),
    ) as [typeof PLAIN, typeof PLAIN, typeof PLAIN];
    expect(during.open(before.seal('old'))).toBe('old');
    expect(after.open(during.seal('new'))).toBe('new');
    expect(() => after.open(before.seal('old'))).toThrow('it has key k1, which scheduler.cluster');
  });

  it('another key under the same id does not open a text', () => {
    const other = createSealedPayload([{ ...TWO, id: 'k1' }]);
    expect(() => other.open(createSealedPayload([ONE]).seal('hello'))).toThrow('another key of the same id');
  });

  it('a changed text is not opened', () => {
    const payload = createSealedPayload([ONE]);
    const sealed = payload.seal('hello');
    const head = sealed.lastIndexOf(':') + 1;
    const bytes = Buffer.from(sealed.slice(head), 'base64');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => payload.open(sealed.slice(0, head) + changed.toString('base64')), `byte ${at}`).toThrow();
    }
    for (const cut of [sealed.slice(0, head), sealed.slice(0, -8), 'sealed:', 'sealed:k1'])
      expect(() => payload.open(cut), cut).toThrow('cannot be opened');
  });

  it('texts from before the first key are read as they are', () => {
    expect(createSealedPayload([ONE]).open('{"a":1}')).toBe('{"a":1}');
  });

  it('without keys nothing is sealed, and a sealed text is refused', () => {
    expect(PLAIN.open(PLAIN.seal('hello'))).toBe('hello');
    expect(() => PLAIN.open(createSealedPayload([ONE]).seal('x'))).toThrow('payload_key_file is not set');
  });
});
