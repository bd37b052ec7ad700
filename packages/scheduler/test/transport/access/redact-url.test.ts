import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactUrl } from '../../../src/transport/access/redact-url.ts';

describe('redacted URL', () => {
  it.each([
    ['/v1/job/job-1', '/v1/job/job-1'],
    ['/ws/node?token=abc', '/ws/node?token=(hidden)'],
    ['/ws/node?a=1&token=abc&b=2', '/ws/node?a=1&token=(hidden)&b=2'],
    ['/ws/node?a=1;token=abc', '/ws/node?a=1&token=(hidden)'],
    ['/ws/node?TOKEN=abc', '/ws/node?TOKEN=(hidden)'],
    ['/ws/node?tok%65n=abc', '/ws/node?tok%65n=(hidden)'],
    ['/ws/node?resume_token=abc', '/ws/node?resume_token=(hidden)'],
    ['/ws/node?x?token=abc', '/ws/node?x?token=(hidden)'],
  ])('%s is logged as %s', (url, written) => expect(redactUrl(url)).toBe(written));

  it('a redacted URL never contains the token', () => {
    const word = fc.stringMatching(/^[a-z]{0,5}$/);
    fc.assert(
      fc.property(word, fc.array(fc.tuple(word, word), { maxLength: 4 }), (path, pairs) => {
        const query = [...pairs.map(([name, value]) => `${name}=${value}`), 'token=SECRET'].sort().join('&');
        expect(redactUrl(`/${path}?${query}`)).not.toContain('SECRET');
      }),
    );
  });
});
