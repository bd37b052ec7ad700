/** Survivors that take over from dead instances, on stores in memory that record the order of the steps. */
import {
  createCertainTakeover,
  createTakeover,
  type TakeoverStore,
} from '../../../src/cluster/recovery/takeover.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import type { Inbox } from '../../../src/ports/inbox.ts';
import type { Instance, Instances } from '../../../src/ports/instances.ts';
import { faulty } from '../../support/faulty.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { about } from '../membership/presence-rig.ts';
import { createTally, QUIET } from '../messaging/message-bus-rig.ts';
import { createSharedJobs } from './shared-jobs-rig.ts';

export const TURN_MS = 2_000;
export const AGAIN_MS = 5_000;

/** Every call of a takeover to the stores. */
export interface Stores extends TakeoverStore, Pick<Inbox, 'take' | 'takeAgain' | 'ack' | 'close'> {
  living(instanceIds: readonly string[]): Promise<ReadonlyMap<string, Instance>>;
  orphan(instanceId: string): Promise<void>;
  remove: Instances['remove'];
}

export function startTakeover({ maxDeliveries = 3 } = {}) {
  const {
    clock,
    store: { inbox, instances },
    announce: announceInstance,
  } = createTestCluster({
    settings: { inbox: { maxMessages: 10_000, maxDeliveries, maxDead: 100, maxDeadOfTenant: 100 } },
  });
  const jobs = createSharedJobs(clock);
  const { done } = jobs;
  /** Other dead instances leave only to be dead at once. */
  const graceful = new Set<string>();

  async function announce(instanceId: string, incarnation = `${instanceId}-1`): Promise<Instance> {
    return announceInstance(instanceId, { ...about(instanceId), incarnation });
  }

  /** `digest` decides the order of the survivors: lower is earlier. */
  async function survivor(
    instanceId: string,
    { turnMs = TURN_MS, digest = (text: string) => text, incarnation = `${instanceId}-1` } = {},
  ) {
    const self = await announce(instanceId, incarnation);
    const { meter, counted } = createTally();
    const state = {
      isFenced: false,
      resumed: [] as string[],
      messages: [] as string[],
      opened: [] as string[],
      receive: async (_: string): Promise<void> => {},
      orphan: async (): Promise<void> => {},
      /** Messages whose tenant was asked for. */
      asked: [] as string[],
    };
    const stores = faulty<Stores>(
      {
        ...jobs.takeoverStoreOf(() => `${instanceId}/${incarnation}`),
        take: inbox.take,
        takeAgain: inbox.takeAgain,
        ack: inbox.ack,
        async close(of) {
          const answer = await inbox.close(of);
          done.push(`inbox of ${of} ${answer}`);
          return answer;
        },
        living: instances.living,
        async orphan(of) {
          done.push(`dead letters of ${of}`);
          await state.orphan();
        },
        async remove(of) {
          done.push(`name of ${of}`);
          const end = await instances.remove(of);
          return end === 'left' && !graceful.has(of) ? 'died' : end;
        },
      },
      [],
      clock,
    );
    const resume = ({ jobId }: JobRecord): void => {
      // As the engine does: a job that is in flight stays as it is.
      if (state.resumed.includes(jobId)) return;
      done.push(`adopted ${jobId}`);
      state.resumed.push(jobId);
    };
    const { takeOver } = createCertainTakeover({
      takeoverStore: stores.port,
      instances,
      resume(job, former) {
        resume(job);
        takeover.tookLate(former);
      },
      clock,
      log: QUIET,
    });
    const takeover = createTakeover({
      self: () => self,
      living: async () => instances.living(await instances.all()),
      isFenced: () => state.isFenced,
      instances: stores.port,
      inbox: stores.port,
      takeoverStore: {
        drivenBy: stores.port.drivenBy,
        takeOver,
        inheritSettled: stores.port.inheritSettled,
        forgetIndexes: stores.port.forgetIndexes,
      },
      resume,
      async tenantOf(text) {
        state.asked.push(text);
        return undefined;
      },
      orphan: (of) => stores.port.orphan(of),
      // Messages share one lane, unless they name another.
      laneOf: (text) => text.split(':')[1] ?? '',
      async receive(text, wasOpened) {
        await state.receive(text);
        state.messages.push(text);
        if (wasOpened) state.opened.push(text);
        done.push(`message ${text}`);
      },
      clock,
      digest,
      turnMs,
      againMs: AGAIN_MS,
      log: QUIET,
      meter,
    });
    return {
      ...state,
      state,
      takeover,
      stores,
      counted,
      driver: `${instanceId}/${incarnation}`,
      /** It sees that these are dead, and does what it does at once. */
      async sees(...instanceIds: string[]): Promise<void> {
        takeover.died(instanceIds);
        await clock.advance(0);
      },
    };
  }

  /** An instance that drove jobs, and died. */
  async function deadWith(
    instanceId: string,
    { jobCount = 0, pending = [] as string[], fresh = [] as string[], isGraceful = false },
  ) {
    const dead = await announce(instanceId);
    if (isGraceful) graceful.add(instanceId);
    const left: string[] = [];
    for (let at = 0; at < jobCount; at += 1)
      left.push((await jobs.add(`${instanceId}/${instanceId}-1`)).jobId);
    for (const body of pending) await inbox.send(instanceId, body);
    await inbox.take(instanceId, { max: 1_000, waitMs: 0 });
    for (const body of fresh) await inbox.send(instanceId, body);
    await instances.leave(dead);
    // At least as long as it takes to notice the death.
    if (pending.length > 0) await clock.advance(TURN_MS);
    return left;
  }

  return {
    clock,
    inbox,
    instances,
    jobs,
    done,
    announce,
    survivor,
    deadWith,
    isForgotten: async (instanceId: string): Promise<boolean> =>
      !(await instances.all()).includes(instanceId),
  };
}

export const unique = (all: readonly string[]): string[] => [...new Set(all)].sort();
