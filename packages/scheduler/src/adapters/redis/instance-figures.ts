/** What each instance says of its work, as one short text each that expires by itself. Cold path. */
import type { InstanceFigures } from '../../ports/instance-figures.ts';
import { asDependency } from './dependency.ts';
import type { Keys } from './keys.ts';
import type { RedisConnection } from './redis-connection.ts';

export function createInstanceFigures(deps: { connection: RedisConnection; keys: Keys }): InstanceFigures {
  const { connection, keys } = deps;
  return {
    write: (instanceId, { nodes, sessions, jobs }, ttlMs) =>
      asDependency('writing figures', async () => {
        const text = `${nodes} ${sessions} ${jobs}`;
        await connection.set(keys.instanceFigures(instanceId), text, 'PX', ttlMs);
      }),
    read: (instanceId) =>
      asDependency('reading figures', async () => {
        const text = await connection.get(keys.instanceFigures(instanceId));
        const [, nodes, sessions, jobs] = /^(\d+) (\d+) (\d+)$/.exec(text ?? '') ?? [];
        if (nodes === undefined) return undefined;
        return { nodes: Number(nodes), sessions: Number(sessions), jobs: Number(jobs) };
      }),
  };
}
