/** Instances that hold nodes on sockets and drive jobs on one another's nodes. */

import { createSendToHolder } from '../../../src/cluster/driver/send-to-holder.ts';
import { acceptAssignments } from '../../../src/cluster/holder/accept-assignment.ts';
import { createDriverCache } from '../../../src/cluster/holder/driver-cache.ts';
import type { NodeReport } from '../../../src/cluster/holder/node-report.ts';
import type { AudioAt } from '../../../src/domain/job-spec.ts';
import type { Need } from '../../../src/domain/need.ts';
import type { Assignment, Delivery, NodeLink } from '../../../src/ports/node-link.ts';
import type { NodeRecord } from '../../../src/ports/node-records.ts';
import { nodeRecordFor } from '../../contracts/node-record-fixtures.ts';
import {
  type Messaging,
  type MessagingInstance,
  QUIET,
  startMessaging,
} from '../messaging/message-bus-rig.ts';
import { createSharedJobs } from '../takeover/shared-jobs-rig.ts';

export const ANSWER_MS = 3_000;
export const HOUR_MS = 3_600_000;
export const NEED: Need = {
  tenantId: 'tenant-1',
  sessionId: 'session-1',
  directions: [{ source: 'zh', target: 'en' }],
  isSourceAuto: false,
  usesAsr: true,
  usesNmt: true,
  usesTts: true,
  types: [],
  services: [],
  isAudioByReference: false,
  isPairUnknown: false,
  needsPublicNode: false,
  isStrict: false,
};

/** An instance with nodes of its own; those that `sockets` names are connected, under that generation. */
export function withNodes(messaging: Messaging, instance: MessagingInstance, { aheadMs = 0 } = {}) {
  const { clock } = messaging;
  const now = (): number => clock.now() + aheadMs;
  const state = {
    sockets: new Map<string, number>(),
    /** Nodes of others. */
    records: new Map<string, NodeRecord>(),
    audio: new Map<string, AudioAt>(),
    delivered: [] as Assignment[],
    cancelled: [] as string[],
    /** What the link answers. */
    delivery: { kind: 'written' } as Delivery,
    /** Nodes that send an acknowledgement of their own. */
    acknowledging: new Set<string>(),
    /** What the instance reports as a holder. */
    reported: [] as NodeReport[],
    whileDelivering: async (_: Assignment): Promise<void> => {},
  };
  const driverCache = createDriverCache({ clock, keepMs: 90_000 });
  const local: NodeLink = {
    async deliver(assignment): Promise<Delivery> {
      if (assignment.expiresAt <= now()) return { kind: 'undeliverable', reason: 'expired' };
      if (!state.sockets.has(assignment.nodeId)) return { kind: 'undeliverable', reason: 'no_connection' };
      state.delivered.push(assignment);
      await state.whileDelivering(assignment);
      return state.delivery;
    },
    cancel: (nodeId, jobId, reason) => void state.cancelled.push(`${nodeId} ${jobId} ${reason}`),
  };
  const link = createSendToHolder({
    bus: instance.bus,
    local,
    find: (nodeId) => state.records.get(nodeId),
    driver: () => instance.driver,
    audioAt: (jobId) => state.audio.get(jobId),
    storeNow: clock.now,
    now,
    log: QUIET,
  });
  acceptAssignments({
    bus: instance.bus,
    local,
    driverCache,
    acknowledges: (nodeId) => state.acknowledging.has(nodeId),
    generationOf: (nodeId) => state.sockets.get(nodeId),
    living: instance.living,
    report: async (report) => void state.reported.push(report),
    storeNow: clock.now,
    now,
  });
  return { ...state, state, driverCache, link, now };
}

export async function startDriverAndHolder(clocks: { driverAheadMs?: number; holderAheadMs?: number } = {}) {
  const messaging = startMessaging();
  const jobs = createSharedJobs(messaging.clock);
  const [a, b] = [await messaging.join('a'), await messaging.join('b')];
  const driver = withNodes(messaging, a, { aheadMs: clocks.driverAheadMs ?? 0 });
  const holder = withNodes(messaging, b, { aheadMs: clocks.holderAheadMs ?? 0 });
  holder.sockets.set('node-b', 7);
  driver.records.set('node-b', nodeRecordFor({ nodeId: 'node-b', holder: b.self }));
  const attempt = { nodeId: 'node-b', attempt: 1 };
  const job = await jobs.add(a.driver, { state: 'RESERVED', intent: attempt, need: NEED });
  const assignment = { ...attempt, job, expiresAt: driver.now() + ANSWER_MS };
  /** The delivery, after all messages were handled. */
  async function deliver(parts: Partial<Assignment> = {}): Promise<Delivery> {
    const delivery = driver.link.deliver({ ...assignment, ...parts });
    await messaging.settle();
    return delivery;
  }
  return { ...messaging, jobs, a, b, driver, holder, job, assignment, deliver };
}
