/** Simulation: the store as one process uses it: every port, on the process's connections to the shards. */

import type { JobAssign, JobCancel } from '@lingua/protocol';
import { createGlossaryStore } from '../../../scheduler/dist/adapters/memory/glossary-store.js';
import { jobTag } from '../../../scheduler/dist/adapters/shared-jobs/job-scripts.js';
import type { SharedStore } from '../../../scheduler/dist/app/shared-store.js';
import type { Clock } from '../../../scheduler/dist/ports/clock.js';
import { createCapacityLedger } from './capacity-ledger.ts';
import { createDeadLetters } from './dead-letters.ts';
import { createHintBus } from './hint-bus.ts';
import { createInbox, type PlanAfter } from './inbox.ts';
import { createInstances } from './instances.ts';
import { createJobEvents } from './job-events.ts';
import { createJobStore } from './job-store.ts';
import { createNodeIdClaims } from './node-id-claims.ts';
import { createNodeMailbox } from './node-mailbox.ts';
import { createNodeRecords } from './node-records.ts';
import { createFollowers, createRoomLog } from './rooms/room-log.ts';
import { createRoomRecords } from './rooms/room-records.ts';
import { withReplica } from './servers/durable.ts';
import type { Lines } from './servers/lines.ts';
import { type Tag, tags } from './servers/tags.ts';
import { type MastersWatch, watchMasters } from './servers/watch-masters.ts';
import { createSessionStore } from './session-store.ts';
import { createInstanceFigures, createLocks, createStatsStore } from './short-lived.ts';
import type { StoreSettings } from './store-settings.ts';
import { createUsageStore } from './usage-store.ts';

export function openStore(deps: {
  clock: Clock;
  lines: Lines;
  settings: StoreSettings;
  planAfter: PlanAfter;
  /** Called with the watch of the masters, which is woken when another master is found. */
  onWatch: (watch: MastersWatch) => void;
  onClose: () => void;
  onFault?: ((fault: unknown) => void) | undefined;
}): SharedStore {
  const { clock, lines, settings, planAfter, onFault } = deps;
  // Slots, jobs and messages must not be lost. Notices and presence are soon written again.
  const kept =
    settings.durability === 'replica' ? withReplica(lines, clock, settings.commandTimeoutMs / 2) : lines;
  const inbox = createInbox({ lines: kept, planAfter, ...settings.inbox });

  return {
    mode: 'cluster',
    instances: createInstances({ lines }),
    inbox,
    replaceReader: lines.replaceReader,
    mark: () => lines.ask(tags.key('schema'), 'mark', () => undefined),
    warnings: [],
    unfitServers: () => 0,
    commands: lines.drainCounts,
    hintBus: createHintBus({ lines, onFault }),
    nodeRecords: createNodeRecords({ lines, forgetAfterMs: settings.forgetNodesAfterMs, onFault }),
    ledger: createCapacityLedger({ lines: kept, idleMs: settings.nodeIdleMs }),
    nodeIdClaims: createNodeIdClaims({
      lines,
      clock,
      maxNodes: settings.maxNodes,
      idleMs: settings.nodeIdleMs,
    }),
    mailbox: createNodeMailbox<JobAssign | JobCancel>({
      lines,
      clock,
      maxPerNode: settings.mailboxJobs,
      idleMs: settings.nodeIdleMs,
    }),
    sessions: createSessionStore({ lines: kept }),
    deadLetters: createDeadLetters({ lines, inbox }),
    figures: createInstanceFigures({ lines }),
    statsStore: createStatsStore({ lines }),
    usage: createUsageStore({ lines: kept, ...settings.usage }),
    // No simulated client uses one.
    glossaries: createGlossaryStore(),
    rooms: (limits) => ({
      log: createRoomLog(kept, limits),
      followers: createFollowers(kept),
      records: createRoomRecords(kept),
    }),
    locks: createLocks({ lines, space: 'task' }),
    modelDebounce: createLocks({ lines, space: 'model_unavailable' }),
    jobs: (by) => createJobStore({ lines: kept, clock, ...by, ...settings.jobs }),
    events: (by) => createJobEvents({ lines, clock, ...by }),
    watch(instanceId, on) {
      const shardOf = (tag: Tag): number => lines.lineOf(tag).shard.index;
      const watch = watchMasters(
        { lines: lines.all, clock },
        {
          changed(shard) {
            // Without its entry in the index, a job could not be taken over.
            const isIndexAffected = shardOf(tags.instance(instanceId)) === shard;
            on.changed({
              job: (jobId) => isIndexAffected || shardOf(tags.job(jobTag(jobId))) === shard,
              record: (jobId) => shardOf(tags.job(jobTag(jobId))) === shard,
              node: (nodeId) => shardOf(tags.node(nodeId)) === shard,
              room: (roomId) => shardOf(tags.room(roomId)) === shard,
              usage: (tenantId) => shardOf(tags.tenant(tenantId)) === shard,
            });
          },
          returned: on.returned,
        },
      );
      deps.onWatch(watch);
      return watch;
    },
    isReachable: () => lines.all.some((line) => !line.isSilent()),
    close() {
      lines.close();
      deps.onClose();
    },
  };
}
