/** A slice of the fuzz in this process, and whether its messages reach the code behind the validation. */
import { HTTP_ENDPOINTS, NODE_TO_SCHEDULER, SESSION_TO_SCHEDULER, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { createSeededChance } from '../../../packages/scheduler/src/cli/simulated-node/seeded-chance.ts';
import { readCommand } from '../../src/fuzz/command.ts';
import { isFault } from '../../src/fuzz/fuzz-requests.ts';
import { distort, generate, type Schema } from '../../src/fuzz/generate.ts';
import { runFuzz } from '../../src/fuzz/run-fuzz.ts';

const SCHEMAS = [
  ...NODE_TO_SCHEDULER,
  ...SESSION_TO_SCHEDULER,
  ...HTTP_ENDPOINTS.flatMap(({ params, query, body }) => [params, query, body]),
].filter((schema) => schema !== undefined);
const TRIES = 200;

/** Schemas of which none of many values has the verdict. */
const without = (isValid: boolean, make: (schema: Schema, chance: () => number) => unknown): unknown[] =>
  SCHEMAS.filter((schema) => {
    const chance = createSeededChance(7);
    const validate = validator(schema);
    const asSchema = schema as unknown as Schema;
    return !Array.from({ length: TRIES }, () => make(asSchema, chance)).some(
      (value) => validate(value).ok === isValid,
    );
  }).map((schema) => (schema as { title?: string }).title ?? schema);

describe('the values of the fuzz', () => {
  it('are valid for every message, body and query', () => {
    expect(SCHEMAS.length).toBeGreaterThan(40);
    expect(without(true, generate)).toEqual([]);
  });

  it('are invalid for every message, body and query after a distortion', () => {
    expect(without(false, (schema, chance) => distort(generate(schema, chance), chance))).toEqual([]);
  });
});

it('distorted frames and requests neither end the scheduler nor cause errors', async () => {
  const slice = { frames: 4_000, requests: 1_000, seed: 20_261_118, measuresMemory: false, isJson: true };
  const { problems, faults, statuses } = await runFuzz({ ...slice, place: 'inside' });
  expect({ problems, faults }).toEqual({ problems: [], faults: [] });
  // A busy machine gives up many requests; of those that it answered, some were served and some refused.
  expect(statuses[200]).toBeGreaterThan(0);
  expect(statuses[400]).toBeGreaterThan(0);
});

describe('an answer that no request may get', () => {
  const named = (id: string) =>
    HTTP_ENDPOINTS.find(({ operationId }) => operationId === id) as (typeof HTTP_ENDPOINTS)[number];
  it.each([
    ['translate', 503, 'ALL_CANDIDATES_FULL_OR_FAILED', false],
    ['translate', 504, 'JOB_TIMEOUT', false],
    ['dispatch', 503, 'SCHEDULER_DEPENDENCY_DOWN', true],
    ['mintToken', 501, 'UNSUPPORTED_FEATURE', true],
    ['readStats', 503, '', true],
    ['translate', 500, 'INTERNAL_ERROR', true],
    ['translate', 503, 'INVALID_MESSAGE', true],
    ['listNodes', 502, 'PROCESSING_ERROR', true],
    ['listNodes', 400, 'INVALID_MESSAGE', false],
  ])('%s with %s %s: %s', (id, status, error, expected) => {
    expect(isFault(named(id), status, JSON.stringify({ error }))).toBe(expected);
  });
});

describe('the command line of the fuzz', () => {
  it.each([
    [['--frames', 'many'], /--frames takes a whole number/],
    [['--seed', '1.5'], /--seed takes a whole number/],
    [['--target', 'moon'], /--target takes inside or process/],
    [['--freams', '9'], /--help lists the options/],
  ])('refuses %j with a reason', (argv, why) => {
    expect(readCommand(argv, () => 1)).toMatch(why);
  });

  it('sends a million frames and a hundred thousand requests by default', () => {
    expect(readCommand([], () => 1)).toMatchObject({
      frames: 1_000_000,
      requests: 100_000,
      place: 'process',
    });
  });
});
