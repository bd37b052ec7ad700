/** Instances sign their requests for audio with a key that all of them have. */
import { describe, expect, it } from 'vitest';
import { createInstanceSignature, WINDOW_MS } from '../../../src/transport/access/instance-signature.ts';

const PATH = '/v1/audio/job-1';
let now = 1_700_000_000_000;
let nonces = 0;

const instance = (instanceId: string, ...[first, ...others]: [string, ...string[]]) =>
  createInstanceSignature({
    secrets: [Buffer.from(first), ...others.map((secret) => Buffer.from(secret))],
    instanceId,
    now: () => now,
    newNonce: () => `nonce-${++nonces}-of-the-test`,
  });

const a = instance('a', 'key');
const b = instance('b', 'key');
const signed = () => a.sign(`http://b:5010/behind/a/proxy${PATH}`);

describe('signature of an instance', () => {
  it('an instance with the same key accepts a signed request', () => {
    expect(b.accepts(PATH, signed())).toBe(true);
  });

  it('a signed request is accepted once', () => {
    const header = signed();
    expect([b.accepts(PATH, header), b.accepts(PATH, header)]).toEqual([true, false]);
  });

  it('a signature is for one path, sender and time', () => {
    const header = signed();
    expect(b.accepts('/v1/audio/job-2', header)).toBe(false);
    expect(b.accepts(PATH, header.replace(' a ', ' c '))).toBe(false);
    expect(b.accepts(PATH, header.replace(String(now), String(now + 1)))).toBe(false);
    expect(b.accepts(PATH, header.replace(/nonce-\d+/, 'nonce-0'))).toBe(false);
    expect(b.accepts(PATH, header)).toBe(true);
  });

  it('a signature ends with its window, also one from the future', () => {
    const [late, early] = [signed(), signed()];
    now += WINDOW_MS + 1;
    expect(b.accepts(PATH, late)).toBe(false);
    now -= 2 * (WINDOW_MS + 1);
    expect(b.accepts(PATH, early)).toBe(false);
  });

  it('a request that was accepted early cannot be repeated until its window ends', () => {
    const header = signed();
    now -= WINDOW_MS;
    expect(b.accepts(PATH, header)).toBe(true);
    now += 2 * WINDOW_MS - 1;
    expect(b.accepts(PATH, header)).toBe(false);
  });

  it('an instance with another key is refused, one with an earlier key is not', () => {
    expect(instance('b', 'other').accepts(PATH, signed())).toBe(false);
    expect(instance('b', 'new', 'key').accepts(PATH, signed())).toBe(true);
  });

  it.each(['', 'Lingua-Instance', 'Lingua-Instance a 1 n x', 'Bearer token'])('refuses %j', (header) => {
    expect(b.accepts(PATH, header)).toBe(false);
  });
});
