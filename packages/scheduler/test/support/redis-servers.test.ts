/** Which server the tests run on. */
import { describe, expect, it, vi } from 'vitest';
import { startRedisServer } from '../../../../proof/src/redis/redis-servers.ts';

describe('the server of the tests', () => {
  it('is the one that REDIS_SERVER names', async () => {
    vi.stubEnv('REDIS_SERVER', '/no/such/valkey-server');
    try {
      await expect(startRedisServer([], 1)).rejects.toThrow(
        'REDIS_SERVER names /no/such/valkey-server, which could not be started',
      );
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
