import { describe, expect, it } from 'vitest';
import { createTally, type Outcome } from '../../../src/cli/simulated-client/tally.ts';

const SAID = { isSecondSpeaker: false, phrase: 1 };
const result = (utteranceIndex: number, rest: Partial<Outcome> = {}): Outcome => ({
  utteranceIndex,
  requestId: `req-${utteranceIndex}`,
  jobId: `job-${utteranceIndex}`,
  missing: undefined,
  ...rest,
});

function start() {
  const tally = createTally();
  tally.opened(false);
  return {
    ...tally,
    say: (index: number, at = 0) => {
      tally.said(`req-${index}`, SAID, at);
      tally.accepted(index, `req-${index}`);
    },
  };
}

describe('a tally', () => {
  it('accepts one outcome per utterance, in order', () => {
    const { say, outcome, counts } = start();
    say(0, 100);
    say(1, 200);
    expect(outcome(result(0), 150)).toEqual({ verdict: 'good', said: SAID, latencyMs: 50 });
    outcome(result(1, { jobId: undefined, missing: 'silence_detected' }), 260);
    expect(counts()).toMatchObject({
      utterances: 2,
      results: 1,
      missing: { silence_detected: 1 },
      lost: 0,
      doubled: 0,
      outOfOrder: 0,
    });
  });

  it('counts sent or accepted utterances without an outcome as lost', () => {
    const { say, said, accepted, outcome, counts } = start();
    say(0);
    said('req-never-accepted', SAID, 0);
    accepted(2, 'req-0');
    // Parts of an utterance without any outcome are not counted again.
    expect(counts().lost).toBe(2);
    outcome(result(0), 1);
    expect(counts().lost).toBe(2);
  });

  it('counts a duplicate outcome, by its number or by its job', () => {
    const { say, outcome, opened, counts } = start();
    say(0);
    outcome(result(0), 1);
    expect(outcome(result(0, { jobId: 'job-x' }), 2).verdict).toBe('doubled');
    opened(false);
    expect(outcome(result(7, { jobId: 'job-0' }), 3).verdict).toBe('doubled');
    expect(counts()).toMatchObject({ results: 1, doubled: 2 });
  });

  it('counts an outcome out of order', () => {
    const { say, outcome, counts } = start();
    say(0);
    say(1);
    outcome(result(1), 1);
    expect(outcome(result(0), 2).verdict).toBe('out_of_order');
    expect(counts()).toMatchObject({ outOfOrder: 1, lost: 0 });
  });

  it('finds the utterance of an outcome without an id by its position', () => {
    const { say, said, outcome, counts } = start();
    say(0);
    said('req-1', SAID, 40);
    outcome(result(0), 1);
    expect(outcome(result(1, { requestId: undefined }), 50)).toMatchObject({ latencyMs: 10 });
    expect(counts().lost).toBe(0);
  });

  it('expects outstanding outcomes of the old session in the new one', () => {
    const { say, disconnected, opened, accepted, outcome, counts } = start();
    say(5);
    disconnected();
    opened(false);
    expect(counts()).toMatchObject({ lost: 1, disconnects: 1, reopened: 1, resumed: 0 });
    accepted(0, 'req-5');
    outcome(result(0, { requestId: 'req-5', jobId: 'job-5' }), 1);
    expect(counts()).toMatchObject({ lost: 0, results: 1 });
  });

  it('accepts several outcomes of a request that was split', () => {
    const { said, accepted, outcome, counts } = start();
    said('req-long', SAID, 10);
    accepted(0, 'req-long');
    accepted(1, 'req-long');
    outcome(result(0, { requestId: 'req-long' }), 20);
    expect(counts().lost).toBe(1);
    expect(outcome(result(1, { requestId: 'req-long' }), 30)).toMatchObject({ latencyMs: 20 });
    expect(counts()).toMatchObject({ utterances: 1, results: 2, lost: 0, doubled: 0 });
  });
});
