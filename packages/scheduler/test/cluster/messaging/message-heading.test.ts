/** The heading of a dead letter, without its content. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headingOf } from '../../../src/cluster/messaging/message-heading.ts';
import { printMessageName, readMessageName } from '../../../src/cluster/messaging/message-name.ts';

const NOTHING = { kind: undefined, from: undefined, jobId: undefined, nodeId: undefined };

describe('the heading of a message', () => {
  it('is read from its envelope, at any depth', () => {
    const envelope = {
      topic: 'job.result',
      from: 'a:1',
      body: { answer: { nodeId: 'node-1', jobId: 'job-2' }, result: { textAsr: 'hello' } },
    };
    expect(headingOf(`job-2 ${JSON.stringify(envelope)}`)).toEqual({
      kind: 'job.result',
      from: 'a:1',
      jobId: 'job-2',
      nodeId: 'node-1',
    });
    expect(headingOf('{"type": "job_result", "job_id" : "job-3", "node_id":"n"}')).toEqual({
      kind: 'job_result',
      from: undefined,
      jobId: 'job-3',
      nodeId: 'n',
    });
  });

  it('is read from a message that is cut in the middle', () => {
    expect(headingOf('lane {"topic":"job.result","body":{"jobId":"job-1","nodeId":"no')).toMatchObject({
      kind: 'job.result',
      jobId: 'job-1',
      nodeId: undefined,
    });
  });

  it('is never taken from spoken text', () => {
    const said = fc.oneof(
      fc.string(),
      fc.constantFrom('"jobId":"stolen"', '{"topic":"x","from":"y"}', '\\"'),
    );
    fc.assert(
      fc.property(said, said, (text, other) => {
        expect(headingOf(JSON.stringify({ textAsr: text, more: [other, { x: text }] }))).toEqual(NOTHING);
      }),
    );
  });

  it('has only values that look like an id', () => {
    expect(headingOf('{"topic":"what was said","jobId":"a b","nodeId":7}')).toEqual(NOTHING);
    expect(headingOf(`{"jobId":"${'x'.repeat(129)}"}`)).toEqual(NOTHING);
  });
});

describe('the name of a dead letter', () => {
  it('is read as it was printed, also when the instance has colons', () => {
    for (const instanceId of ['a', 'host:5010:x', '1-2']) {
      const name = { instanceId, messageId: '1700000000000-7' };
      expect(readMessageName(printMessageName(name))).toEqual(name);
    }
  });

  it('is refused if malformed', () => {
    for (const text of [
      '',
      'a',
      ':1-1',
      'a:',
      'a:1',
      'a:1-',
      'a:x-1',
      'a:1-1 ',
      '1-1',
      `a:${'9'.repeat(17)}-1`,
    ])
      expect(readMessageName(text)).toBeUndefined();
  });
});
