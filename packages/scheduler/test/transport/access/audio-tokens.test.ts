/** A token opens the audio of one job, in one process. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAudioTokens } from '../../../src/transport/access/audio-tokens.ts';

const tokens = createAudioTokens({ secret: Buffer.from('secret') });

describe('a one-job token', () => {
  it('opens its own job and no other', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(tokens.opens(one, tokens.issue(one))).toBe(true);
        expect(tokens.opens(one, tokens.issue(other))).toBe(one === other);
      }),
    );
  });

  it('is as good as the secret behind it: another process does not take it', () => {
    const others = createAudioTokens({ secret: Buffer.from('another secret') });
    expect(others.opens('job-1', tokens.issue('job-1'))).toBe(false);
  });

  it('has one spelling, of messages that need no escaping in a header', () => {
    const token = tokens.issue('job-1');
    expect(token).toMatch(/^[\w-]{43}$/);
    const last = token.at(-1) as string;
    const next = String.fromCharCode(last.charCodeAt(0) + 1);
    for (const wrong of ['', ' ', `${token}=`, `${token} `, token.slice(0, -1), token.slice(0, -1) + next]) {
      expect(tokens.opens('job-1', wrong), wrong).toBe(false);
    }
  });

  it('is refused whatever it is made of', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 40, maxLength: 46 }), (token) => {
        expect(tokens.opens('job-1', token)).toBe(false);
      }),
    );
  });
});
