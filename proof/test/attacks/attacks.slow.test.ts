/** The attacks that take long, each on fresh processes. */
import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../../../packages/scheduler/test/e2e/support/ensure-built.ts';
import { unheld } from './unheld.ts';

beforeAll(ensureBuilt, 150_000);

it('slow attacks are held off by one process and by two on a Redis', { timeout: 600_000 }, async () => {
  expect(await unheld('--slow')).toEqual([]);
});
