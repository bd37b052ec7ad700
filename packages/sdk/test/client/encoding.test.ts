/** Bytes, ids and URLs as they appear on the wire. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64, encodeBase64 } from '../../src/client/base64.ts';
import { CLIENT_VERSION, newRequestId, sessionUrl } from '../../src/client/session-options.ts';

describe('base64', () => {
  it('base64 equals the standard encoding, and decodes it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20_000, size: 'max' }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(encodeBase64(bytes)).toBe(text);
        expect(Buffer.from(decodeBase64(text) ?? []).equals(bytes)).toBe(true);
        expect(Buffer.from(decodeBase64(text.replace(/=+$/, '')) ?? []).equals(bytes)).toBe(true);
      }),
    );
  });

  it.each(['*', 'a', 'abc*', 'abcde', 'ab=c', 'a b=', 'äöü=', '====='])('%j is not base64', (text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });

  it('decoding any text never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void decodeBase64(text)));
  });
});

it('request ids never repeat', () => {
  const ids = new Set(Array.from({ length: 1_000 }, newRequestId));
  expect(ids.size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(/^req-[0-9a-f]{32}$/);
});

describe('session URL', () => {
  it.each([
    ['ws://host:5010/ws/session', 'ws://host:5010/ws/session'],
    ['ws://host:5010', 'ws://host:5010/ws/session'],
    ['wss://host/elsewhere', 'wss://host/elsewhere'],
    ['http://host:5010', 'ws://host:5010/ws/session'],
    ['http://host:5010/', 'ws://host:5010/ws/session'],
    ['https://host/lingua/', 'wss://host/lingua/ws/session'],
    ['https://host/lingua/ws/session', 'wss://host/lingua/ws/session'],
    ['https://host/?room=1#top', 'wss://host/ws/session?room=1'],
  ])('%s becomes %s', (given, expected) => {
    expect(sessionUrl(given, undefined)).toBe(expected);
  });

  it('the URL carries any token', () => {
    const url = new URL(sessionUrl('http://host?room=1', 'a&b=c d+é'));
    expect(url.searchParams.get('token')).toBe('a&b=c d+é');
    expect(url.searchParams.get('room')).toBe('1');
  });
});

it('the version on the wire is that of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(CLIENT_VERSION).toBe(`lingua-sdk/${manifest.version}`);
});
