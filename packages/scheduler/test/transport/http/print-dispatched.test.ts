import { JOB_STATES } from '@lingua/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createDispatchedPrinter } from '../../../src/transport/http/print-dispatched.ts';

const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
/** Mostly what ids look like, and anything else too. */
const ID = fc.oneof(fc.stringMatching(/^[A-Za-z0-9._:-]{1,40}$/), fc.string({ unit: 'binary' }));
const INDEX = fc.oneof(
  fc.maxSafeNat(),
  fc.nat({ max: 2_000_000 }),
  // Neighbours around a change of the upper digits.
  fc.integer({ min: -2, max: 2 }).map((by) => 1_794_000_000_000_000 + by),
);

it('prints what JSON.stringify prints', () => {
  const print = createDispatchedPrinter();
  const answer = fc.record({
    job_id: ID,
    node_id: maybe(ID),
    attempt_id: maybe(fc.integer({ min: 1, max: 1_000 })),
    request_id: maybe(ID),
    utterance_index: maybe(INDEX),
    state: maybe(fc.constantFrom(...JOB_STATES)),
  });
  fc.assert(
    fc.property(answer, (each) => {
      expect(print(each)).toBe(JSON.stringify(each));
    }),
  );
});
