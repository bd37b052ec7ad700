/** Cold path, at the start and periodically: checks the settings of Redis. A setting that would lose data silently refuses the start. */
import { Cluster, type Redis } from 'ioredis';
import { SchedulerError } from '../../../domain/errors.ts';
import type { RedisConnection } from './redis-connection.ts';
import { queryReplica, replicasOf } from './replicas.ts';
import { addressOfServer, fieldsOf, isForbidden, mastersOf } from './servers.ts';

export interface StoreExpectations {
  readonly durability: 'primary' | 'replica';
}

/** What one server reports about itself; undefined: it does not report this. */
interface ServerFacts {
  readonly address: string;
  readonly version: string | undefined;
  readonly role: string | undefined;
  readonly replicas: number | undefined;
  readonly policy: string | undefined;
  readonly hasAof: boolean | undefined;
  readonly isClustered: boolean | undefined;
  readonly needsFullCoverage: boolean | undefined;
  readonly info: ReadonlyMap<string, string>;
}

const OLDEST = [6, 2] as const;

/** Each is a sentence with the action to take. */
export interface StoreReport {
  /** Reasons why an instance may not start on this store. */
  readonly objections: readonly string[];
  readonly warnings: readonly string[];
}

/** Returns the warnings. Throws SCHEDULER_DEPENDENCY_DOWN if a server may not be used with its settings, or none answers. */
export async function inspectStore(
  connection: RedisConnection,
  expected: StoreExpectations,
): Promise<readonly string[]> {
  const { objections, warnings } = await lookAtStore(connection, expected);
  if (objections[0] !== undefined) throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', objections[0]);
  return warnings;
}

/** Throws SCHEDULER_DEPENDENCY_DOWN if no master answers. For a master that does not answer while others do, and for a replica, there is only a warning. */
export async function lookAtStore(
  connection: RedisConnection,
  expected: StoreExpectations,
): Promise<StoreReport> {
  const isCluster = connection instanceof Cluster;
  const servers = mastersOf(connection);
  const looks = await Promise.allSettled(servers.map((server) => inspect(server, isCluster)));
  const facts = looks.flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []));
  const faults = looks.flatMap((look) => (look.status === 'rejected' ? [look.reason] : []));
  if (facts.length === 0) {
    throw new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'no Redis server answers', { cause: faults[0] });
  }
  const silent = servers.filter((_, index) => looks[index]?.status === 'rejected');
  const replicas = await lookAtReplicas(
    connection,
    facts.map(({ info }) => info),
  );
  return {
    objections: [
      ...facts.flatMap((server) => objectionTo(server, isCluster) ?? []),
      ...replicas.flatMap(({ objections }) => objections),
    ],
    warnings: [
      ...silent.map(
        (server) => `Redis ${addressOfServer(server)} does not answer and could not be inspected.`,
      ),
      ...facts.flatMap((server) => warningsOf(server, isCluster, expected)),
      ...replicas.flatMap(({ warnings }) => warnings),
    ],
  };
}

/** Any replica may become master later, without another check. */
function lookAtReplicas(
  connection: RedisConnection,
  infos: readonly ReadonlyMap<string, string>[],
): Promise<readonly StoreReport[]> {
  return Promise.all(
    replicasOf(connection, infos).map(async (replica) => {
      const address = `${replica.host}:${replica.port}`;
      try {
        const { policy } = await queryReplica(connection, replica, (server) => inspect(server, false));
        const objection = objectionToPolicy(`Redis replica ${address}`, address, policy);
        const warning = `Redis replica ${address} does not let this user see its maxmemory-policy: make sure that it is noeviction.`;
        return {
          objections: objection === undefined ? [] : [objection],
          warnings: policy === undefined ? [warning] : [],
        };
      } catch (fault) {
        const why = fault instanceof Error ? fault.message : String(fault);
        const warning = `Redis replica ${address} could not be inspected (${why}): make sure that its maxmemory-policy is noeviction, for when it is master.`;
        return { objections: [], warnings: [warning] };
      }
    }),
  );
}

async function inspect(server: Redis, isCluster: boolean): Promise<ServerFacts> {
  const info = fieldsOf((await unlessForbidden(() => server.info())) ?? '');
  const config = async (name: string): Promise<string | undefined> => {
    const [, value] = ((await unlessForbidden(() => server.config('GET', name))) ?? []) as string[];
    return value;
  };
  const aof = info.get('aof_enabled') ?? (await config('appendonly'));
  const clustered = info.get('cluster_enabled') ?? (await config('cluster-enabled'));
  const replicas = info.get('connected_slaves');
  // INFO does not contain it. Outside a Cluster it has no meaning.
  const coverage = isCluster ? await config('cluster-require-full-coverage') : undefined;
  return {
    address: addressOfServer(server),
    version: info.get('redis_version'),
    role: info.get('role'),
    replicas: replicas === undefined ? undefined : Number(replicas),
    policy: info.get('maxmemory_policy') ?? (await config('maxmemory-policy')),
    hasAof: aof === undefined ? undefined : isOn(aof),
    isClustered: clustered === undefined ? undefined : isOn(clustered),
    needsFullCoverage: coverage === undefined ? undefined : isOn(coverage),
    info,
  };
}

const isOn = (value: string): boolean => value === '1' || value === 'yes';

async function unlessForbidden<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (fault) {
    if (isForbidden(fault)) return undefined;
    throw fault;
  }
}

/** Why the server may not be used at all. */
function objectionTo(server: ServerFacts, isCluster: boolean): string | undefined {
  const { address, policy, role, isClustered } = server;
  const evicts = objectionToPolicy(`Redis ${address}`, address, policy);
  if (evicts !== undefined) return evicts;
  if (role === 'slave') {
    return `Redis ${address} is a replica and takes no writes. Name its master, or use mode "sentinel" or "cluster" (scheduler.cluster.redis.mode)`;
  }
  if (isClustered === true && !isCluster) {
    return `Redis ${address} is part of a Cluster. Set scheduler.cluster.redis.mode = "cluster"`;
  }
  return undefined;
}

function objectionToPolicy(who: string, address: string, policy: string | undefined): string | undefined {
  if (policy === undefined || policy === 'noeviction') return undefined;
  return (
    `${who} has maxmemory-policy ${policy}: short of memory it would drop leases and jobs silently. ` +
    `Set it with: ${cli(address)} CONFIG SET maxmemory-policy noeviction (and in its redis.conf)`
  );
}

function warningsOf(
  server: ServerFacts,
  isCluster: boolean,
  { durability }: StoreExpectations,
): readonly string[] {
  const { address, version } = server;
  const found: string[] = [];
  if (version !== undefined && isOlder(version)) {
    found.push(`Redis ${address} is version ${version}; use ${OLDEST.join('.')} or later.`);
  }
  if (server.replicas === 0) {
    found.push(
      durability === 'replica'
        ? `Redis ${address} has no replica, but scheduler.cluster.durability = "replica" waits for one at every write: add one with REPLICAOF, or set it to "primary".`
        : `Redis ${address} has no replica: when it is lost, running jobs are lost with it. Add one with REPLICAOF.`,
    );
  }
  if (server.hasAof === false) {
    found.push(
      `Redis ${address} keeps no append-only file: after a restart it is empty. Turn it on with: ${cli(address)} CONFIG SET appendonly yes (and in its redis.conf)`,
    );
  }
  if (server.needsFullCoverage === true) {
    found.push(
      `Redis ${address} has cluster-require-full-coverage yes: one lost master stops all of them. Set it with: ${cli(address)} CONFIG SET cluster-require-full-coverage no (and in its redis.conf)`,
    );
  }
  const unseen = unseenOf(server, isCluster);
  if (unseen.length > 0) {
    found.push(
      `Redis ${address} does not let this user see ${unseen.join(', ')}: make sure of them yourself, or allow INFO and CONFIG GET (ACL SETUSER … +info +config|get).`,
    );
  }
  return found;
}

function unseenOf(server: ServerFacts, isCluster: boolean): readonly string[] {
  return [
    ...(server.policy === undefined ? ['maxmemory-policy (must be noeviction)'] : []),
    ...(server.hasAof === undefined ? ['appendonly (should be yes)'] : []),
    ...(server.replicas === undefined ? ['its replicas (there should be one)'] : []),
    ...(server.version === undefined ? [`its version (${OLDEST.join('.')} or later)`] : []),
    ...(isCluster && server.needsFullCoverage === undefined
      ? ['cluster-require-full-coverage (should be no)']
      : []),
  ];
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

function cli(address: string): string {
  const at = address.lastIndexOf(':');
  return `redis-cli -h ${address.slice(0, at)} -p ${address.slice(at + 1)}`;
}
