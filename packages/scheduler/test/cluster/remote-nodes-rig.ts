/** Instances with nodes on sockets of their own, which drive jobs on one another's. */

import { createRemoteNodes } from '../../src/cluster/driver/remote-nodes.ts';
import { createDriverCache } from '../../src/cluster/holder/driver-cache.ts';
import type { AudioAt } from '../../src/domain/job-spec.ts';
import type { Need } from '../../src/domain/need.ts';
import type { Assignment, Delivery } from '../../src/ports/node-link.ts';
import type { NodeRecord } from '../../src/ports/node-records.ts';
import { sheetFor } from '../contracts/node-sheets.ts';
import { createSharedJobs } from './jobs-rig.ts';
import { type Post, type PostedInstance, QUIET, startPost } from './post-rig.ts';

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
export function withNodes(post: Post, instance: PostedInstance, { aheadMs = 0 } = {}) {
  const { clock } = post;
  const now = (): number => clock.now() + aheadMs;
  const state = {
    sockets: new Map<string, number>(),
    /** Nodes of others. */
    records: new Map<string, NodeRecord>(),
    audio: new Map<string, AudioAt>(),
    delivered: [] as Assignment[],
    cancelled: [] as string[],
    whileDelivering: async (_: Assignment): Promise<void> => {},
  };
  const driverCache = createDriverCache({ clock, keepMs: 90_000 });
  const link = createRemoteNodes({
    bus: instance.bus,
    local: {
      async deliver(assignment): Promise<Delivery> {
        if (assignment.expiresAt <= now()) return { kind: 'undeliverable', reason: 'expired' };
        if (!state.sockets.has(assignment.nodeId)) return { kind: 'undeliverable', reason: 'no_connection' };
        state.delivered.push(assignment);
        await state.whileDelivering(assignment);
        return { kind: 'written' };
      },
      cancel: (nodeId, jobId, reason) => void state.cancelled.push(`${nodeId} ${jobId} ${reason}`),
    },
    find: (nodeId) => state.records.get(nodeId),
    driver: () => instance.driver,
    audioAt: (jobId) => state.audio.get(jobId),
    generationOf: (nodeId) => state.sockets.get(nodeId),
    driverCache,
    storeNow: clock.now,
    now,
    answerMs: ANSWER_MS,
    log: QUIET,
  });
  return { ...state, state, driverCache, link, now };
}

export async function startDriverAndHolder(clocks: { driverAheadMs?: number; holderAheadMs?: number } = {}) {
  const post = startPost();
  const jobs = createSharedJobs(post.clock);
  const [a, b] = [await post.join('a'), await post.join('b')];
  const driver = withNodes(post, a, { aheadMs: clocks.driverAheadMs ?? 0 });
  const holder = withNodes(post, b, { aheadMs: clocks.holderAheadMs ?? 0 });
  holder.sockets.set('node-b', 7);
  driver.records.set('node-b', sheetFor({ nodeId: 'node-b', holder: b.self }));
  const attempt = { nodeId: 'node-b', attempt: 1 };
  const job = await jobs.add(a.driver, { state: 'RESERVED', intent: attempt, need: NEED });
  const assignment = { ...attempt, job, expiresAt: driver.now() + ANSWER_MS };
  /** The delivery, once messages have gone to and fro. */
  async function deliver(parts: Partial<Assignment> = {}): Promise<Delivery> {
    const delivery = driver.link.deliver({ ...assignment, ...parts });
    await post.settle();
    return delivery;
  }
  return { ...post, jobs, a, b, driver, holder, job, assignment, deliver };
}
