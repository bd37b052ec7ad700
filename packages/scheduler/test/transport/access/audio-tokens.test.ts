/** An audio token gives access to the audio of one job, in one process. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAudioTokens } from '../../../src/transport/access/audio-tokens.ts';

const tokens = createAudioTokens({ secret: Buffer.from('secret') });

describe('audio token', () => {
  it('an audio token opens only its own job', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        expect(tokens.opens(one, tokens.issue(one))).toBe(true);
        expect(tokens.opens(one, tokens.issue(other))).toBe(one === other);
      }),
    );
  });

  it('another process does not accept an audio token', () => {
    const others = createAudioTokens({ secret: Buffer.from('another secret') });
    expect(others.opens('job-1', tokens.issue('job-1'))).toBe(false);
  });

  it('an audio token has one spelling and needs no escaping in headers', () => {
    const token = tokens.issue('job-1');
    expect(token).toMatch(/^[\w-]{43}$/);
    const last = token.at(-1) as string;
    const next = String.fromCharCode(last.charCodeAt(0) + 1);
    for (const wrong of ['', ' ', `${token}=`, `${token} `, token.slice(0, -1), token.slice(0, -1) + next]) {
      expect(tokens.opens('job-1', wrong), wrong).toBe(false);
    }
  });

  it('a malformed audio token is refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 40, maxLength: 46 }), (token) => {
        expect(tokens.opens('job-1', token)).toBe(false);
      }),
    );
  });
});
