/** Numbers in the names of jobs: successive jobs have neighbouring numbers, and no client can choose one. */
import { expect, it } from 'vitest';
import { systemClock as clock } from '../../src/adapters/system/clock.ts';
import { createIdSource } from '../../src/adapters/system/id-source.ts';
import { leaseId } from '../../src/domain/lease.ts';
import { MOST_NUMBERS, numberIn, spellNumber } from '../../src/domain/numbered/job-name.ts';

const MANY = 200;
const namesOf = (digestsRequests: boolean, requestId?: string): string[] => {
  const ids = createIdSource({ clock, digestsRequests });
  return Array.from({ length: MANY }, () => ids.jobId('acme', requestId));
};

it.each([0, 1, 15, 16, 0xabcdef, MOST_NUMBERS - 1])('%i is written in letters and read back', (number) => {
  const spelt = spellNumber(number);
  expect(spelt).toMatch(/^[a-p]{6}$/);
  expect(numberIn(`job-${'x'.repeat(22)}${spelt}`)).toBe(number);
});

it('jobs and leases of one process have ascending numbers', () => {
  const names = namesOf(false, 'req-1');
  const [first = 0] = names.map(numberIn);
  expect(names.map(numberIn)).toEqual(names.map((_, at) => (first + at) % MOST_NUMBERS));
  expect(names.map((name) => numberIn(leaseId(name, 12)))).toEqual(names.map(numberIn));
});

it('numbers start again after the last', () => {
  expect(spellNumber(MOST_NUMBERS + 5)).toBe(spellNumber(5));
});

it('the same request gets another number each time', () => {
  const names = namesOf(true, 'req-1');
  expect(new Set(names.map((name) => name.slice(0, 26))).size).toBe(1);
  // There are a million numbers: of 200, at most a few may be equal.
  expect(new Set(names.map(numberIn)).size).toBeGreaterThan(MANY - 10);
});
