/** What each instance says of its work, as one short text each that expires by itself; written with its round. Cold path. */
import type { InstanceFigures } from '../../ports/instance-figures.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { InstanceRounds } from './instance-rounds.ts';
import type { Keys } from './keys.ts';

export function createInstanceFigures(deps: {
  connection: RedisConnection;
  keys: Keys;
  rounds: Pick<InstanceRounds, 'make'>;
}): InstanceFigures {
  const { connection, keys, rounds } = deps;
  return {
    write: (instanceId, { nodes, sessions, jobs, pools }, ttlMs) =>
      asDependency('writing figures', async () => {
        const text = `${nodes} ${sessions} ${jobs}${pools === undefined ? '' : ` ${pools}`}`;
        await rounds.make(instanceId, { text, lifeMs: ttlMs });
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
