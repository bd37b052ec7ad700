/** An audio token gives access to the audio of one job, for a time, on instances with the same secret. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAudioTokens } from '../../../src/transport/access/audio-tokens.ts';

const TTL_MS = 60_000;
let now = 1_700_000_000_000;
const tokensOf = (...[first, ...others]: [string, ...string[]]) =>
  createAudioTokens({
    secrets: [Buffer.from(first), ...others.map((secret) => Buffer.from(secret))],
    isShared: true,
    ttlMs: TTL_MS,
    now: () => now,
  });
const tokens = tokensOf('secret');

describe('audio token', () => {
  it('an audio token opens only its own job', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(tokens.opens(one, tokens.issue(one))).toBe(true);
        expect(tokens.opens(one, tokens.issue(other))).toBe(one === other);
      }),
    );
  });

  it('a process with another secret does not accept an audio token', () => {
    expect(tokensOf('another secret').opens('job-1', tokens.issue('job-1'))).toBe(false);
  });

  it('an audio token is accepted with any of the secrets and signed with the first', () => {
    const rotated = tokensOf('new', 'secret');
    expect(rotated.opens('job-1', tokens.issue('job-1'))).toBe(true);
    expect(tokens.opens('job-1', rotated.issue('job-1'))).toBe(false);
    expect(tokensOf('new').opens('job-1', rotated.issue('job-1'))).toBe(true);
  });

  it('an audio token ends with the time of its job, and its end cannot be changed', () => {
    const token = tokens.issue('job-1');
    now += TTL_MS - 1;
    expect(tokens.opens('job-1', token)).toBe(true);
    now += 1;
    expect(tokens.opens('job-1', token)).toBe(false);
    const [expiry = '', signature] = token.split('.');
    const later = (Number.parseInt(expiry, 36) + TTL_MS).toString(36);
    expect(tokens.opens('job-1', `${later}.${signature}`)).toBe(false);
  });

  it('an audio token has one spelling and needs no escaping in headers', () => {
    const token = tokens.issue('job-1');
    expect(token).toMatch(/^[0-9a-z]+\.[\w-]{43}$/);
    const last = token.at(-1) as string;
    const next = String.fromCharCode(last.charCodeAt(0) + 1);
    for (const wrong of ['', ' ', `${token}=`, `${token} `, token.slice(0, -1), token.slice(0, -1) + next]) {
      expect(tokens.opens('job-1', wrong), wrong).toBe(false);
    }
  });

  it('a malformed audio token is refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 50, maxLength: 54 }), (token) => {
        expect(tokens.opens('job-1', token)).toBe(false);
      }),
    );
  });
});
