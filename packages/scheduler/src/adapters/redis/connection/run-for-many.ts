/** One script for many entities: pipelines per master, so that round trips do not grow with their number. */
import { Cluster, Command, type Redis } from 'ioredis';
import { asDependency } from './dependency.ts';
import type { RedisConnection } from './redis-connection.ts';
import { isSlotMoving, isUnknownScript, type Reply, type RunScript } from './script.ts';

export interface ScriptCall {
  readonly keys: readonly [string, ...string[]];
  readonly args: readonly (string | number)[];
}

/** A server answers no other client while it processes a pipeline. */
const MOST_PER_PIPELINE = 256;

/** Replies in the order of the calls. All or none: if one shard does not answer, the whole result is unknown. */
export async function runForMany(
  connection: RedisConnection,
  run: RunScript,
  calls: readonly ScriptCall[],
): Promise<readonly Reply[]> {
  const replies = new Array<Reply>(calls.length);
  const runAll = async (server: Redis, indexes: readonly number[]): Promise<void> => {
    for (let from = 0; from < indexes.length; from += MOST_PER_PIPELINE) {
      const some = indexes.slice(from, from + MOST_PER_PIPELINE);
      const answers = await sendPipeline(
        server,
        run.digest,
        some.map((index) => calls[index] as ScriptCall),
      );
      await Promise.all(
        some.map(async (index, at) => {
          const [fault, reply] = answers[at] ?? [new Error('no answer')];
          if (fault === null) replies[index] = reply as Reply;
          else replies[index] = await retryAlone(run, calls[index] as ScriptCall, fault);
        }),
      );
    }
  };
  await asDependency(run.scriptName, () =>
    Promise.all([...groupByMaster(connection, calls)].map(([server, indexes]) => runAll(server, indexes))),
  );
  return replies;
}

async function sendPipeline(
  server: Redis,
  digest: string,
  calls: readonly ScriptCall[],
): Promise<readonly [fault: Error | null, reply?: unknown][]> {
  const pipeline = server.pipeline();
  for (const { keys, args } of calls) pipeline.evalsha(digest, keys.length, ...keys, ...args);
  return (await pipeline.exec()) ?? [];
}

/** If the hash slot has moved, or the server has not loaded the script, the single call handles it. */
async function retryAlone(run: RunScript, { keys, args }: ScriptCall, fault: Error): Promise<Reply> {
  if (!isUnknownScript(fault) && !isSlotMoving(fault)) throw fault;
  return run(keys, args);
}

function groupByMaster(
  connection: RedisConnection,
  calls: readonly ScriptCall[],
): ReadonlyMap<Redis, readonly number[]> {
  const groups = new Map<Redis, number[]>();
  const masterOf = connection instanceof Cluster ? findMasters(connection) : () => connection;
  for (const [index, { keys }] of calls.entries()) {
    const master = masterOf(keys[0]);
    const group = groups.get(master);
    if (group === undefined) groups.set(master, [index]);
    else group.push(index);
  }
  return groups;
}

export function findMasters(cluster: Cluster): (key: string) => Redis {
  const masters = new Map(
    cluster.nodes('master').map((server) => [`${server.options.host}:${server.options.port}`, server]),
  );
  const [anyMaster] = masters.values();
  return (key) => {
    const address = cluster.slots[new Command('exists', [key]).getSlot()]?.[0] ?? '';
    const master = masters.get(address) ?? anyMaster;
    if (master === undefined) throw new Error('no master of the Cluster is known');
    return master;
  };
}
