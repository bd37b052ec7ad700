/** The chaos command without a Redis server on the machine. The runs themselves take minutes: chaos.slow.test.ts. */
import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../../../packages/scheduler/test/e2e/support/ensure-built.ts';
import { chaos } from './run-chaos.ts';

beforeAll(ensureBuilt, 150_000);

it('reports that the machine has no Redis', async () => {
  const { code, output } = await chaos([], { ...process.env, PATH: '/nowhere' });
  expect(code).toBe(2);
  expect(output).toContain('there is no redis-server on this machine');
});
