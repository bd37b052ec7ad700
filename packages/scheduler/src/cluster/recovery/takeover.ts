/**
 * Background actor: takes over from dead instances: the jobs they drove, the messages they did not handle; then removes their names.
 *
 * Every step can be repeated, and several instances can do it concurrently: a job is taken over by comparing its driver, a message is
 * handled as if it had arrived here, an inbox is closed only when it is empty. A digest of the names decides which survivor begins, so that
 * two rarely do the same work; the others help if the takeover takes too long.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Inbox, InboxMessage, TenantOfMessage } from '../../ports/inbox.ts';
import type { Instance, Instances } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';

export interface IndexedJob {
  readonly jobId: JobId;
  readonly deadlineAt: number;
}

/** What a takeover needs of the store. */
export interface TakeoverStore {
  drivenBy(instanceId: string, limit: number): Promise<readonly IndexedJob[]>;
  takeOver(
    job: IndexedJob,
    from: { readonly instanceId: string; readonly livingIncarnation?: string },
  ): Promise<{ kind: 'taken'; job: JobRecord } | { kind: 'settled' | 'driven' | 'unknown_job' }>;
  inheritSettled(from: string): Promise<void>;
  /** False while one of its jobs is left. */
  forgetIndexes(instanceId: string): Promise<boolean>;
}

export interface Takeover {
  /** These are dead. Called again and again until they are removed. */
  died(instanceIds: readonly string[]): void;
  /** Takes over the jobs of the previous incarnation of this instance, after a crash and a restart under the same name. */
  takeOverPrevious(): Promise<void>;
  /** A job was taken over by a call that had failed, perhaps after the end of its takeover. */
  tookLate(instanceId: string): void;
  /** What this instance took over since it started, newest first. */
  recent(): readonly EndedTakeover[];
}

export interface EndedTakeover {
  /** The former driver. */
  readonly instanceId: string;
  /** `left`: it was stopped in order; `restarted`: it is this instance, before its restart. */
  readonly cause: 'died' | 'left' | 'restarted';
  readonly jobs: number;
  readonly endedAt: number;
}

/** I11: older ones are in the log. */
const MAX_RECENT = 50;

/** More than one instance drives. */
const MAX_JOBS = 200_000;
const MAX_MESSAGES = 64;
const JOBS_AT_ONCE = 32;
const RETRY_MS = 1_000;

type Former = Parameters<TakeoverStore['takeOver']>[1];

interface Dead {
  /** When this instance learned of the death. */
  readonly since: number;
  isUnderWay: boolean;
  /** One of its messages could not be handled here. */
  hasFailedMessages: boolean;
  /** Taken over from it so far, perhaps in several passes, and not yet remembered. */
  jobs: number;
}

export function createTakeover(deps: {
  self: () => Instance;
  living: () => Promise<ReadonlyMap<string, Instance>>;
  isFenced: () => boolean;
  instances: Pick<Instances, 'living' | 'remove'>;
  inbox: Pick<Inbox, 'take' | 'takeAgain' | 'ack' | 'close'>;
  takeoverStore: TakeoverStore;
  resume: (job: JobRecord) => void;
  tenantOf?: TenantOfMessage;
  /** Its dead letters stay for operators. */
  orphan: (instanceId: string) => Promise<void>;
  /** Messages that must stay in order share a lane. */
  laneOf: (text: string) => string;
  /** Handles a message as if it had arrived here; `wasOpened`: the dead instance may have handled it. */
  receive: (text: string, wasOpened: boolean) => Promise<void>;
  clock: Clock;
  digest: (text: string) => string;
  /** How long one survivor has before the next one helps. A message that the dead instance had read is older than that by now. */
  turnMs: number;
  /** How long a message that could not be handled waits for the next try, by any survivor. */
  againMs: number;
  log: Log;
  meter: Meter;
}): Takeover {
  const { inbox, takeoverStore, clock, log, meter } = deps;
  const known = new Map<string, Dead>();
  const recent: EndedTakeover[] = [];

  function remember(instanceId: string, cause: EndedTakeover['cause'], jobs: number): void {
    recent.unshift({ instanceId, cause, jobs, endedAt: clock.now() });
    recent.length = Math.min(recent.length, MAX_RECENT);
  }

  async function isMyTurn(instanceId: string, since: number): Promise<boolean> {
    const living = [...(await deps.living()).keys()];
    const turns = living.sort((a, b) => (deps.digest(instanceId + a) < deps.digest(instanceId + b) ? -1 : 1));
    const turn = turns.indexOf(deps.self().instanceId);
    return turn >= 0 && clock.now() - since >= turn * deps.turnMs;
  }

  /** Read each time: the instance may have restarted, and jobs of its new incarnation must not be taken over. */
  async function livingOf(instanceId: string): Promise<string | undefined> {
    return (await deps.instances.living([instanceId])).get(instanceId)?.incarnation;
  }

  async function formerOf(instanceId: string): Promise<Former> {
    const livingIncarnation = await livingOf(instanceId);
    return livingIncarnation === undefined ? { instanceId } : { instanceId, livingIncarnation };
  }

  async function takeOverJobs(instanceId: string, counted: { jobs: number }): Promise<void> {
    const positions = await takeoverStore.drivenBy(instanceId, MAX_JOBS);
    let fault: unknown;
    async function takeOverOne(position: IndexedJob, from: Former): Promise<void> {
      const taken = await takeoverStore.takeOver(position, from);
      if (taken.kind !== 'taken') return;
      // At once, so that reports of its node find it.
      deps.resume(taken.job);
      counted.jobs += 1;
    }
    for (let at = 0; at < positions.length; at += JOBS_AT_ONCE) {
      const some = positions.slice(at, at + JOBS_AT_ONCE);
      // Read after the index: an instance that lives by now was announced before it admitted jobs. And each time, because it may be resuming its jobs.
      const from = await formerOf(instanceId);
      const ends = await Promise.allSettled(some.map((position) => takeOverOne(position, from)));
      const failed = ends.filter((end) => end.status === 'rejected');
      fault ??= failed[0]?.reason;
      // Jobs on a shard that is away do not block the others. If none was answered, the rest would not be, either.
      if (failed.length === some.length) break;
    }
    if (fault !== undefined) throw fault;
  }

  async function handle(
    instanceId: string,
    { messageId, body }: InboxMessage,
    wasOpened: boolean,
  ): Promise<boolean> {
    try {
      await deps.receive(body, wasOpened);
      return true;
    } catch (fault) {
      log.warn(
        { of: instanceId, message_id: messageId, err: fault },
        'a message of a dead instance could not be handled and is retried',
      );
      return false;
    }
  }

  /** False: a message could not be handled, or the instance lives again. Then it is tried later. */
  async function emptyInbox(instanceId: string, state: Dead): Promise<boolean> {
    /** Messages that failed in this pass. Each further try counts towards the dead letters. */
    const failed = new Set<string>();
    // With several calls a second, and perhaps several survivors, all tries would be used up at once.
    const idleMs = state.hasFailedMessages ? deps.againMs : deps.turnMs;
    for (;;) {
      if ((await livingOf(instanceId)) !== undefined) return false;
      // Messages that the dead instance had read come first: they are older. And one that is read now must not come again at once.
      const limits = { max: MAX_MESSAGES, idleMs, except: failed, tenantOf: deps.tenantOf };
      const again = await inbox.takeAgain(instanceId, limits);
      if (again.died > 0) meter.count('scheduler_phase2_dlq_moved_total', undefined, again.died);
      if (again.messages.length > 0)
        meter.count('scheduler_phase2_reclaimed_total', undefined, again.messages.length);
      const messages =
        again.messages.length > 0
          ? again.messages
          : await inbox.take(instanceId, { max: MAX_MESSAGES, waitMs: 0 });
      if (messages.length === 0) return failed.size === 0 && (await inbox.close(instanceId)) === 'closed';
      const handled: string[] = [];
      const handleLane = async (lane: readonly InboxMessage[]): Promise<void> => {
        for (const message of lane) {
          if (await handle(instanceId, message, again.messages.length > 0)) handled.push(message.messageId);
          else failed.add(message.messageId);
        }
      };
      // A message may be slow while a shard is away: other lanes do not wait for it.
      await Promise.all(inLanes(messages).map(handleLane));
      state.hasFailedMessages ||= failed.size > 0;
      await inbox.ack(instanceId, handled);
    }
  }

  function inLanes(messages: readonly InboxMessage[]): readonly (readonly InboxMessage[])[] {
    const lanes = new Map<string, InboxMessage[]>();
    for (const message of messages) {
      const lane = deps.laneOf(message.body);
      lanes.set(lane, [...(lanes.get(lane) ?? []), message]);
    }
    return [...lanes.values()];
  }

  async function resume(instanceId: string, state: Dead): Promise<void> {
    await takeOverJobs(instanceId, state);
    if (!(await emptyInbox(instanceId, state))) return;
    // Once more: the dead instance may have written until its end, and the index is written before the job.
    await takeOverJobs(instanceId, state);
    if ((await livingOf(instanceId)) !== undefined) return;
    await takeoverStore.inheritSettled(instanceId);
    if (!(await takeoverStore.forgetIndexes(instanceId))) return;
    await deps.orphan(instanceId);
    const end = await deps.instances.remove(instanceId);
    const { jobs } = state;
    state.jobs = 0;
    const fields = { of_instance: instanceId, jobs };
    if (end === 'left') log.info(fields, 'took over from an instance that left');
    if (end === 'died' || (end === 'left' && jobs > 0)) remember(instanceId, end, jobs);
    if (end !== 'died') return;
    meter.count('scheduler_takeovers_total');
    log.warn(fields, 'took over from a dead instance');
  }

  async function takeOverInTurn(instanceId: string): Promise<void> {
    const state = known.get(instanceId);
    if (state === undefined || state.isUnderWay || deps.isFenced()) return;
    state.isUnderWay = true;
    try {
      if (await isMyTurn(instanceId, state.since)) await resume(instanceId, state);
    } catch (fault) {
      log.warn(
        { of_instance: instanceId, err: fault },
        'a takeover failed and continues at the next membership read',
      );
    } finally {
      state.isUnderWay = false;
      if (known.get(instanceId) !== state) rememberPart(instanceId, state);
    }
  }

  /** Another survivor ended the takeover and alone knows whether the instance left; it does not know the jobs taken over here. */
  function rememberPart(instanceId: string, { jobs }: Dead): void {
    if (jobs > 0) remember(instanceId, 'died', jobs);
  }

  return {
    died(instanceIds) {
      for (const [instanceId, state] of known) {
        if (instanceIds.includes(instanceId)) continue;
        known.delete(instanceId);
        if (!state.isUnderWay) rememberPart(instanceId, state);
      }
      for (const instanceId of instanceIds) {
        if (!known.has(instanceId))
          known.set(instanceId, { since: clock.now(), isUnderWay: false, hasFailedMessages: false, jobs: 0 });
        void takeOverInTurn(instanceId);
      }
    },

    async takeOverPrevious() {
      const previous = { jobs: 0 };
      try {
        await takeOverJobs(deps.self().instanceId, previous);
        if (previous.jobs === 0) return;
        remember(deps.self().instanceId, 'restarted', previous.jobs);
        log.warn(previous, 'took over jobs of the previous incarnation of this instance');
      } catch (fault) {
        log.warn({ err: fault }, 'jobs of the previous incarnation could not be taken over yet');
        clock.after(RETRY_MS, () => void this.takeOverPrevious());
      }
    },

    tookLate(instanceId) {
      const state = known.get(instanceId);
      if (state === undefined) remember(instanceId, 'died', 1);
      else state.jobs += 1;
    },

    recent: () => recent,
  };
}

interface Uncertain extends IndexedJob {
  /** Its former driver. */
  readonly instanceId: string;
}

/** Far more than are tried before a takeover stops because the store does not answer. */
const MAX_UNCERTAIN = 10_000;

/**
 * A call that failed may have taken a job over, and other survivors then remove it from the index of the dead instance: no takeover would
 * find it again. So the call is repeated until the store says which instance drives the job.
 */
export function createCertainTakeover(deps: {
  takeoverStore: Pick<TakeoverStore, 'takeOver'>;
  instances: Pick<Instances, 'living'>;
  /** The engine drives the job from now on, which `former` drove. Can be repeated. */
  resume: (job: JobRecord, former: string) => void;
  clock: Clock;
  log: Log;
}): { readonly takeOver: TakeoverStore['takeOver']; uncertain(): number } {
  const { takeoverStore, clock, log } = deps;
  const uncertain = new Map<JobId, Uncertain>();
  let isWaiting = false;

  async function lookUp(job: Uncertain): Promise<void> {
    const { jobId, instanceId } = job;
    try {
      // It may have restarted since, and jobs of its new incarnation must not be taken over.
      const livingIncarnation = (await deps.instances.living([instanceId])).get(instanceId)?.incarnation;
      const from = livingIncarnation === undefined ? { instanceId } : { instanceId, livingIncarnation };
      const taken = await takeoverStore.takeOver(job, from);
      uncertain.delete(jobId);
      if (taken.kind === 'taken') deps.resume(taken.job, instanceId);
    } catch (fault) {
      log.info({ job_id: jobId, err: fault }, 'it is unknown yet whether a job was taken over');
    }
  }

  async function lookUpAll(): Promise<void> {
    const all = [...uncertain.values()];
    for (let at = 0; at < all.length; at += JOBS_AT_ONCE) {
      await Promise.all(all.slice(at, at + JOBS_AT_ONCE).map(lookUp));
    }
    isWaiting = false;
    if (uncertain.size > 0) lookUpLater();
  }

  function lookUpLater(): void {
    if (isWaiting) return;
    isWaiting = true;
    clock.after(RETRY_MS, () => void lookUpAll());
  }

  return {
    async takeOver(position, from) {
      const { jobId, deadlineAt } = position;
      try {
        const taken = await takeoverStore.takeOver(position, from);
        uncertain.delete(jobId);
        return taken;
      } catch (fault) {
        if (uncertain.size < MAX_UNCERTAIN)
          uncertain.set(jobId, { jobId, deadlineAt, instanceId: from.instanceId });
        lookUpLater();
        throw fault;
      }
    },
    uncertain: () => uncertain.size,
  };
}
