/** The figures that each instance reports about its work: one short text per instance, with an expiry. Cold path. */
import type { InstanceFigures } from '../../ports/instance-figures.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Keys } from './keys.ts';

export function createInstanceFigures(deps: { connection: RedisConnection; keys: Keys }): InstanceFigures {
  const { connection, keys } = deps;
  return {
    write: (instanceId, { nodes, sessions, jobs, pools }, ttlMs) =>
      asDependency('writing figures', async () => {
        const text = `${nodes} ${sessions} ${jobs}${pools === undefined ? '' : ` ${pools}`}`;
        await connection.set(keys.instanceFigures(instanceId), text, 'PX', ttlMs);
      }),
    read: (instanceId) =>
      asDependency('reading figures', async () => {
        const text = await connection.get(keys.instanceFigures(instanceId));
        const [, nodes, sessions, jobs, pools] = WRITTEN.exec(text ?? '') ?? [];
        if (nodes === undefined) return undefined;
        const figures = { nodes: Number(nodes), sessions: Number(sessions), jobs: Number(jobs) };
        return pools === undefined ? figures : { ...figures, pools };
      }),
  };
}

const WRITTEN = /^(\d+) (\d+) (\d+)(?: ([0-9a-f]{8}))?$/;
