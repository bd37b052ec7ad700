/** Every metric of the tables is counted, and every error code is explained. */
import { ERROR_CODES, NODE_STATUSES, JOB_STATES as PUBLISHED_STATES } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/domain/errors.ts';
import { JOB_STATES } from '../../src/domain/job.ts';
import { METRICS } from '../../src/domain/metrics.ts';
import { NODE_HEALTHS } from '../../src/domain/node.ts';
import { filesUnder } from './source-files.ts';

const SRC = 'packages/scheduler/src';
const TABLE = `${SRC}/domain/metrics`;

describe('the tables', () => {
  it('have only metrics that the code counts', () => {
    const text = filesUnder(SRC, '.ts')
      .filter(({ path }) => !path.startsWith(TABLE))
      .map((file) => file.text)
      .join('\n');
    const unused = Object.keys(METRICS).filter((name) => !text.includes(`'${name}'`));
    expect(unused).toEqual([]);
  });

  it('have the states that the protocol publishes, and no others', () => {
    expect([...PUBLISHED_STATES].sort()).toEqual([...JOB_STATES].sort());
    expect([...NODE_STATUSES].sort()).toEqual([...NODE_HEALTHS].sort());
  });

  it('explain every error code of the protocol', () => {
    expect(ERROR_CODES.filter((code) => !Object.hasOwn(ERRORS, code))).toEqual([]);
  });
});
