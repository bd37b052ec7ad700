/** Equal values are recognised as equal and kept once. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSame } from '../../src/management/registration/is-same.ts';
import { createShare, createTextMap } from '../../src/management/registration/share.ts';
import { aRegistration, createFixture } from './registry-fixture.ts';

const plain = fc.jsonValue({ maxDepth: 3 });

describe('isSame', () => {
  it('agrees with a copy and with what JSON makes of both', () => {
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        expect(isSame(a, structuredClone(a))).toBe(true);
        if (JSON.stringify(a) === JSON.stringify(b)) return;
        if (isSame(a, b)) expect(a).toEqual(b);
      }),
    );
  });

  it('distinguishes an absent part from an empty one, in both directions', () => {
    expect(isSame({ a: [] }, {})).toBe(false);
    expect(isSame({}, { a: [] })).toBe(false);
    expect(isSame({ a: [] }, [])).toBe(false);
    expect(isSame(new Map(), [])).toBe(false);
    expect(isSame([], new Map())).toBe(false);
  });

  it('compares maps by their entries', () => {
    expect(isSame(new Map([['a', 1]]), new Map([['a', 1]]))).toBe(true);
    expect(isSame(new Map([['a', 1]]), new Map([['a', 2]]))).toBe(false);
    expect(isSame(new Map([['a', 1]]), new Map([['b', 1]]))).toBe(false);
  });
});

describe('sharing', () => {
  it('returns the first of equal values', () => {
    const share = createShare({ maxChars: 1_000 });
    const first = { a: [1] };
    expect(share(first)).toBe(first);
    expect(share({ a: [1] })).toBe(first);
    expect(share({ a: [2] })).not.toBe(first);
  });

  it('distinguishes a map from a list', () => {
    const share = createShare({ maxChars: 1_000 });
    share([]);
    expect(share(new Map())).toBeInstanceOf(Map);
    const map = share(new Map([['a', 'ready']]));
    expect(share(new Map([['a', 'ready']]))).toBe(map);
  });

  it('drops the least recently used when it is full', () => {
    const share = createShare({ maxChars: 30 });
    const [a, b, c] = [['aaaaaaaa'], ['bbbbbbbb'], ['cccccccc']]; // twelve characters each
    share(a);
    share(b);
    share(['aaaaaaaa']);
    share(c);
    expect(share(['aaaaaaaa'])).toBe(a);
    expect(share(['bbbbbbbb'])).not.toBe(b);
  });

  it('does not keep a value that is larger than its limit', () => {
    const share = createShare({ maxChars: 10 });
    const large = ['aaaaaaaaaaaaaaaa'];
    share(large);
    expect(share(['aaaaaaaaaaaaaaaa'])).not.toBe(large);
  });

  it('I11 bounded: drops the texts of values that are gone', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const texts = createTextMap<object>({ maxChars: 10_000_000 });
    const kept = Array.from({ length: 100 }, (_, at) => ({ at }));
    for (const value of kept) texts.set(`kept ${value.at}`, value);
    for (let round = 0; round < 20; round += 1) {
      for (let at = 0; at < 100; at += 1) texts.set(`gone ${round} ${at}`, { at });
      // A new reference keeps its value until the running job of the event loop has ended.
      await setImmediate();
      collect();
    }
    expect(texts.size).toBeLessThan(600);
    expect(kept.filter((value) => texts.get(`kept ${value.at}`) !== value)).toEqual([]);
  });

  it('shares the report of a node that registers again and again', async () => {
    const { registry, view } = createFixture();
    await registry.register(aRegistration());
    const first = view('node-1')?.profile;
    for (let round = 0; round < 5; round += 1) await registry.register(structuredClone(aRegistration()));
    expect(view('node-1')?.profile).toBe(first);
  });
});
