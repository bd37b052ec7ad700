/** Composition root: the shared store on Redis, behind the same ports as the stores of a single instance. */
import type { JobAssign, JobCancel } from '@lingua/protocol';
import { createCapacityLedger } from '../adapters/redis/capacity-ledger.ts';
import { openBlockingConnection } from '../adapters/redis/connection/blocking-connection.ts';
import { isUnresponsive } from '../adapters/redis/connection/breaker.ts';
import { createCommandCounts } from '../adapters/redis/connection/command-counts.ts';
import { watchMasters } from '../adapters/redis/connection/failover-watch.ts';
import { inspectRights } from '../adapters/redis/connection/inspect-rights.ts';
import { inspectStore, lookAtStore } from '../adapters/redis/connection/inspect-store.ts';
import { checkPayloadKey } from '../adapters/redis/connection/payload-key.ts';
import { closeRedis, connectRedis, whenReady } from '../adapters/redis/connection/redis-connection.ts';
import { checkSchemaVersion } from '../adapters/redis/connection/schema-version.ts';
import { addressOfServer, mastersOf } from '../adapters/redis/connection/servers.ts';
import { watchStore } from '../adapters/redis/connection/store-inspection.ts';
import { withReplica } from '../adapters/redis/connection/wait-for-replica.ts';
import { createDeadLetters } from '../adapters/redis/dead-letters.ts';
import { createGlossaryStore } from '../adapters/redis/glossary-store.ts';
import { createHintBus } from '../adapters/redis/hint-bus.ts';
import { createInbox } from '../adapters/redis/inbox.ts';
import { createInstanceFigures } from '../adapters/redis/instance-figures.ts';
import { createInstances } from '../adapters/redis/instances.ts';
import { createJobEvents } from '../adapters/redis/job-events.ts';
import { createJobStore } from '../adapters/redis/job-store.ts';
import { createKeys } from '../adapters/redis/keys.ts';
import { createLocks } from '../adapters/redis/locks.ts';
import { createNodeIdClaims } from '../adapters/redis/node-id-claims.ts';
import { createNodeMailbox } from '../adapters/redis/node-mailbox.ts';
import { createNodeRecords } from '../adapters/redis/node-records.ts';
import { createRoomLog } from '../adapters/redis/room-log.ts';
import { createRoomRecords } from '../adapters/redis/room-records.ts';
import { createSealedPayload } from '../adapters/redis/sealed-payload.ts';
import { createSessionStore } from '../adapters/redis/session-store.ts';
import { createStatsStore } from '../adapters/redis/stats-store.ts';
import { createUsageStore } from '../adapters/redis/usage-store.ts';
import { jobTag } from '../adapters/shared-jobs/job-scripts.ts';
import { readKeyFile } from '../adapters/system/key-file.ts';
import { readTlsFiles } from '../adapters/system/tls-files.ts';
import type { Config } from '../config/settings.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { usageLimits } from './settings/settings-from-config.ts';
import {
  forgetNodesAfterMs,
  inboxSettings,
  nodeIdleMs,
  redisSettings,
  sharedJobLimits,
} from './settings/shared-settings.ts';
import type { SharedStore } from './shared-store.ts';

export type { SharedStore };

/** Connects, and refuses servers whose settings would lose data. */
export async function openSharedStore(deps: {
  config: Config;
  clock: Clock;
  log: Log;
}): Promise<SharedStore> {
  const { config, clock, log } = deps;
  const { key_prefix: prefix, ...redis } = config.scheduler.cluster.redis;
  const tls = { ca: redis.tls_ca_file, cert: redis.tls_cert_file, key: redis.tls_key_file };
  const settings = { ...redisSettings(config), tls: readTlsFiles('scheduler.cluster.redis.tls_', tls) };
  const keys = createKeys(prefix);
  const { payload_key_file: payloadKeyFile } = config.scheduler.cluster;
  const payloadKeys = readKeyFile('scheduler.cluster.payload_key_file', payloadKeyFile, log);
  const counts = createCommandCounts();
  const connection = connectRedis(settings, { name: 'lingua' }, counts);
  const subscriber = connectRedis(settings, { name: 'lingua-subscriber', isListening: true }, counts);
  const longestWaitMs = config.scheduler.cluster.stream_block_ms;
  const reader = openBlockingConnection(settings, { name: 'lingua-reader', longestWaitMs }, counts);
  const close = (): void => {
    reader.close();
    for (const each of [connection, subscriber]) closeRedis(each);
  };
  const { durability } = config.scheduler.cluster;
  async function mark(): Promise<void> {
    await checkSchemaVersion(connection, keys);
    await checkPayloadKey(connection, keys, payloadKeys);
  }
  let warnings: readonly string[];
  try {
    const limitMs = settings.connectTimeoutMs + settings.socketTimeoutMs;
    await Promise.all([connection, subscriber, reader.current()].map((each) => whenReady(each, limitMs)));
    // Before the first write: the error of this check explains more than the error of a failed write.
    warnings = await inspectStore(connection, { durability });
    await inspectRights({ connection, subscriber, keys, prefix });
    await mark();
  } catch (fault) {
    close();
    throw fault;
  }
  const inspection = watchStore({ inspect: () => lookAtStore(connection, { durability }), warnings, log });
  const onFault = (fault: unknown): void => log.error({ err: fault }, 'a subscriber failed');
  const payload = createSealedPayload(payloadKeys);
  const shared = { connection, subscriber, keys, clock, payload, onFault };
  // Leases, jobs, messages, sessions and rooms must not be lost. Notices and presence are written again soon.
  const durable =
    durability === 'replica'
      ? { ...shared, connection: withReplica(connection, settings.commandTimeoutMs / 2) }
      : shared;
  const inbox = createInbox({ ...durable, blocking: reader.current, ...inboxSettings(config) });

  return {
    mode: settings.mode,
    instances: createInstances(shared),
    inbox,
    replaceReader: reader.reconnect,
    mark,
    get warnings() {
      return inspection.warnings();
    },
    unfitServers: inspection.unfitServers,
    masters: () =>
      mastersOf(connection).map((server) => ({
        address: addressOfServer(server),
        isOk: server.status === 'ready',
      })),
    commands: counts.drain,
    hintBus: createHintBus(shared),
    nodeRecords: createNodeRecords({ ...shared, forgetAfterMs: forgetNodesAfterMs(config) }),
    ledger: createCapacityLedger({ ...durable, idleMs: nodeIdleMs(config) }),
    nodeIdClaims: createNodeIdClaims({
      ...shared,
      maxNodes: config.scheduler.max_nodes,
      idleMs: nodeIdleMs(config),
    }),
    mailbox: createNodeMailbox<JobAssign | JobCancel>({
      ...shared,
      maxPerNode: config.scheduler.mailbox.max_jobs,
      idleMs: nodeIdleMs(config),
    }),
    sessions: createSessionStore(durable),
    deadLetters: createDeadLetters({ ...shared, inbox }),
    figures: createInstanceFigures(shared),
    statsStore: createStatsStore(shared),
    usage: createUsageStore({ ...durable, ...usageLimits(config) }),
    glossaries: createGlossaryStore(durable),
    rooms: (limits) => ({ ...createRoomLog({ ...durable, ...limits }), records: createRoomRecords(durable) }),
    locks: createLocks({ connection, keyOf: keys.lock }),
    modelDebounce: createLocks({ connection, keyOf: keys.modelUnavailable }),
    jobs: (by) => createJobStore({ ...durable, ...by, ...sharedJobLimits(config) }),
    events: (by) => createJobEvents({ ...shared, ...by }),
    watch: (instanceId, on) =>
      watchMasters(connection, {
        changed(isAffected) {
          inspection.inspectAgain();
          // Without its index entry a job could not be taken over.
          const isIndexAffected = isAffected(keys.instanceJobs(instanceId));
          on.changed({
            job: (jobId) => isIndexAffected || isAffected(keys.job(jobTag(jobId))),
            record: (jobId) => isAffected(keys.job(jobTag(jobId))),
            node: (nodeId) => isAffected(keys.nodeMeta(nodeId)),
            room: (roomId) => isAffected(keys.roomLog(roomId)),
            usage: (tenantId) => isAffected(keys.usageCounted(tenantId)),
          });
        },
        returned() {
          inspection.inspectAgain();
          on.returned();
        },
      }),
    isReachable: (): boolean => connection.status === 'ready' && !isUnresponsive(connection),
    close() {
      inspection.close();
      close();
    },
  };
}
