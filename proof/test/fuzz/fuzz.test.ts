/** A slice of the fuzz in this process, and whether its messages reach the code behind the validation. */
import { HTTP_ENDPOINTS, NODE_TO_SCHEDULER, SESSION_TO_SCHEDULER, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { createSeededChance } from '../../../packages/scheduler/src/cli/simulated-node/seeded-chance.ts';
import { readCommand } from '../../src/fuzz/command.ts';
import { isFault } from '../../src/fuzz/fuzz-requests.ts';
import { distort, generate, type Schema } from '../../src/fuzz/generate.ts';
import { growthOf } from '../../src/fuzz/judge-memory.ts';
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

describe('the memory of a fuzzed process', () => {
  const MB = 1024 * 1024;
  const at = (heap: number, rss: number, external = 5) => ({
    rss: rss * MB,
    heap: heap * MB,
    external: external * MB,
    arrayBuffers: 0,
  });
  it.each([
    ['fills up to a limit', [at(32, 135), at(35, 190), at(35, 201)], []],
    ['falls', [at(40, 210), at(35, 190), at(33, 180)], []],
    ['is measured once', [at(32, 135)], []],
    ['heap', [at(32, 135), at(40, 150), at(48, 160)], ['the heap grew by 8 MB in the last part of the run']],
    [
      'outside the heap',
      [at(32, 135), at(32, 150, 9), at(32, 160, 15)],
      ['the memory outside the heap grew by 6 MB in the last part of the run'],
    ],
    [
      'of the process',
      [at(32, 135), at(32, 165), at(32, 195)],
      ['the memory of the process grew by 30 MB in the last part of the run'],
    ],
  ])('%s', (_, atRest, problems) => {
    expect(growthOf(atRest)).toEqual(problems);
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
