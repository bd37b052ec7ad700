import { JOB_STATES } from '@lingua/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { printDispatched, printInteger } from '../../../src/transport/http/views/print-dispatched.ts';

const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
/** Mostly typical ids, sometimes any string. */
const ID = fc.oneof(fc.stringMatching(/^[A-Za-z0-9._:-]{1,40}$/), fc.string({ unit: 'binary' }));

it('a printed dispatch reply equals JSON.stringify, in ASCII', () => {
  const answer = fc.record({
    job_id: ID,
    node_id: maybe(ID),
    attempt_id: maybe(fc.integer({ min: 1, max: 1_000 })),
    request_id: maybe(ID),
    utterance_index: maybe(fc.maxSafeNat()),
    state: maybe(fc.constantFrom(...JOB_STATES)),
    warnings: maybe(fc.array(ID, { maxLength: 3 })),
  });
  fc.assert(
    fc.property(answer, (each) => {
      const text = printDispatched(each);
      expect(text).toMatch(/^[\0-\x7f]*$/);
      expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(each));
    }),
  );
});

it('every whole number is printed as the runtime does', () => {
  const edges = [0, 999_999_999, 1_000_000_000, 1_000_000_001, 12_000_000_000, Number.MAX_SAFE_INTEGER];
  for (const number of edges) expect(printInteger(number)).toBe(String(number));
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeNat(), fc.nat()), (number) => {
      expect(printInteger(number)).toBe(String(number));
    }),
  );
});
