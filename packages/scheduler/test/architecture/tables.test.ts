/** The tables say what there is: a metric nobody counts, or a code nobody explains, would be a promise not kept. */
import { ERROR_CODES } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/domain/errors.ts';
import { METRICS } from '../../src/domain/metrics.ts';
import { filesUnder } from './source-files.ts';

const SRC = 'packages/scheduler/src';
const TABLE = `${SRC}/domain/metrics.ts`;

describe('the tables', () => {
  it('have only metrics that somebody uses', () => {
    const text = filesUnder(SRC, '.ts')
      .filter(({ path }) => path !== TABLE)
      .map((file) => file.text)
      .join('\n');
    const unused = Object.keys(METRICS).filter((name) => !text.includes(`'${name}'`));
    expect(unused).toEqual([]);
  });

  it('explain every error code of the protocol', () => {
    expect(ERROR_CODES.filter((code) => !Object.hasOwn(ERRORS, code))).toEqual([]);
  });
});
