/** Messages of other versions, or that somebody put back: what is needed of them is looked for before it is used. */
import { describe, expect, it } from 'vitest';
import { readMessage } from '../../../src/cluster/messaging/read-message.ts';

const SHAPE = { jobId: 'string', at: { bytes: 'number', spec: {} } } as const;
const WHOLE = { jobId: 'job-1', at: { bytes: 1, spec: { any: 'thing' } }, more: true };

describe('a message', () => {
  it('is what it says, whatever else it has', () => {
    expect(readMessage('x', WHOLE, SHAPE)).toBe(WHOLE);
  });

  it.each([
    ['its body', null],
    ['its body', 'job-1'],
    ['jobId', { ...WHOLE, jobId: 1 }],
    ['at', { jobId: 'job-1' }],
    ['at.bytes', { ...WHOLE, at: { bytes: '1', spec: {} } }],
    ['at.spec', { ...WHOLE, at: { bytes: 1, spec: null } }],
  ])('is refused for %s', (lacking, body) => {
    expect(() => readMessage('x', body, SHAPE)).toThrow(`malformed message about x: ${lacking}`);
  });
});
