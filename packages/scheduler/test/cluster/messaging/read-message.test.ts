/** Message bodies are validated before their handler uses them. */
import { describe, expect, it } from 'vitest';
import { readMessage } from '../../../src/cluster/messaging/read-message.ts';

const SHAPE = { jobId: 'string', at: { bytes: 'number', spec: {} } } as const;
const WHOLE = { jobId: 'job-1', at: { bytes: 1, spec: { any: 'thing' } }, more: true };

describe('the body of a message', () => {
  it('is accepted with unknown fields', () => {
    expect(readMessage('x', WHOLE, SHAPE)).toBe(WHOLE);
  });

  it.each([
    ['its body', null],
    ['its body', 'job-1'],
    ['jobId', { ...WHOLE, jobId: 1 }],
    ['at', { jobId: 'job-1' }],
    ['at.bytes', { ...WHOLE, at: { bytes: '1', spec: {} } }],
    ['at.spec', { ...WHOLE, at: { bytes: 1, spec: null } }],
  ])('is refused if %s is missing or has a wrong type', (lacking, body) => {
    expect(() => readMessage('x', body, SHAPE)).toThrow(`malformed message about x: ${lacking}`);
  });
});
