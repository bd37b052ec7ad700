/**
 * Background actor: takes over what dead instances left behind: the jobs they drove, the messages they did not read; then forgets them.
 *
 * Every step may be repeated and done by several at once: a job is taken over by comparison with its driver, a message is handled
 * as if it had come here, an inbox is closed only when it is empty. Who begins first follows from the names alone, so that
 * survivors seldom do the same work twice; the others come to help if it takes too long.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Inbox, InboxMessage } from '../../ports/inbox.ts';
import type { Instance, Instances } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';

export interface Position {
  readonly jobId: JobId;
  readonly deadlineAt: number;
}

/** What the store must do for whoever adopts. */
export interface TakeoverStore {
  drivenBy(instanceId: string, limit: number): Promise<readonly Position[]>;
  takeOver(
    job: Position,
    from: { readonly instanceId: string; readonly livingIncarnation?: string },
  ): Promise<{ kind: 'taken'; job: JobRecord } | { kind: 'settled' | 'driven' | 'unknown_job' }>;
  inheritSettled(from: string): Promise<void>;
  /** False while a job of it is still to be taken over. */
  forgetIndexes(instanceId: string): Promise<boolean>;
}

export interface Takeover {
  /** These live no more. Said again and again until they are removed. */
  died(instanceIds: readonly string[]): void;
  /** Jobs of an earlier incarnation of this very instance, which crashed and was started again under its name. */
  ownPast(): Promise<void>;
}

/** More than one instance ever drives. */
const MOST_JOBS = 200_000;
const MOST_MESSAGES = 64;
const JOBS_AT_ONCE = 32;
const AGAIN_MS = 1_000;

type Former = Parameters<TakeoverStore['takeOver']>[1];

interface Dead {
  /** As far as is known here. */
  readonly since: number;
  isUnderWay: boolean;
  /** A message of it could not be handled here. */
  hasRefused: boolean;
}

export function createTakeover(deps: {
  self: () => Instance;
  living: () => Promise<ReadonlyMap<string, Instance>>;
  isFenced: () => boolean;
  instances: Pick<Instances, 'living' | 'remove'>;
  inbox: Pick<Inbox, 'take' | 'takeAgain' | 'ack' | 'close'>;
  takeoverStore: TakeoverStore;
  adopt: (job: JobRecord) => void;
  /** Its dead letters stay, for operators to look at. */
  orphan: (instanceId: string) => Promise<void>;
  /** What must stay in order shares a lane. */
  laneOf: (text: string) => string;
  /** Handles a message as if it had come here; `wasOpened`: the dead may have done what it says. */
  receive: (text: string, wasOpened: boolean) => Promise<void>;
  clock: Clock;
  digest: (text: string) => string;
  /** How long one survivor has before the next one helps. A message that the dead had read is older than that when its death is known. */
  turnMs: number;
  /** How long a message rests that could not be handled, whoever tried. */
  againMs: number;
  log: Log;
  meter: Meter;
}): Takeover {
  const { inbox, takeoverStore, clock, log, meter } = deps;
  const known = new Map<string, Dead>();

  async function isMyTurn(instanceId: string, since: number): Promise<boolean> {
    const living = [...(await deps.living()).keys()];
    const turns = living.sort((a, b) => (deps.digest(instanceId + a) < deps.digest(instanceId + b) ? -1 : 1));
    const turn = turns.indexOf(deps.self().instanceId);
    return turn >= 0 && clock.now() - since >= turn * deps.turnMs;
  }

  /** Asked anew each time: it may have been started again under its name, and what its next life drives is its own. */
  async function livingOf(instanceId: string): Promise<string | undefined> {
    return (await deps.instances.living([instanceId])).get(instanceId)?.incarnation;
  }

  /** Whose jobs may be taken: what the next life of the dead drives is its own. */
  async function formerOf(instanceId: string): Promise<Former> {
    const livingIncarnation = await livingOf(instanceId);
    return livingIncarnation === undefined ? { instanceId } : { instanceId, livingIncarnation };
  }

  async function adoptJobs(instanceId: string): Promise<number> {
    const positions = await takeoverStore.drivenBy(instanceId, MOST_JOBS);
    let takenOver = 0;
    let fault: unknown;
    async function adoptOne(position: Position, from: Former): Promise<void> {
      const taken = await takeoverStore.takeOver(position, from);
      if (taken.kind !== 'taken') return;
      // At once: what its node says meanwhile must find it.
      deps.adopt(taken.job);
      takenOver += 1;
    }
    for (let at = 0; at < positions.length; at += JOBS_AT_ONCE) {
      const some = positions.slice(at, at + JOBS_AT_ONCE);
      // After the list: who lives by now announced itself before it admitted anything. And each time: it may just be taking its jobs back.
      const from = await formerOf(instanceId);
      const ends = await Promise.allSettled(some.map((position) => adoptOne(position, from)));
      const failed = ends.filter((end) => end.status === 'rejected');
      fault ??= failed[0]?.reason;
      // Jobs that lie where the store is away do not hold up the others. Where none is answered, the others would not be, either.
      if (failed.length === some.length) break;
    }
    if (fault !== undefined) throw fault;
    return takenOver;
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
      log.warn({ of: instanceId, message_id: messageId, err: fault }, 'a dead instance’s message must wait');
      return false;
    }
  }

  /** Answers false if something in it could not be handled, or it is being read again: then it is looked at later. */
  async function emptyInbox(instanceId: string, state: Dead): Promise<boolean> {
    /** Tried in this pass: each further try would bring it nearer to the dead letters. */
    const failed = new Set<string>();
    // There are several looks a second, and perhaps several survivors: all its tries would be over before anything can have changed.
    const idleMs = state.hasRefused ? deps.againMs : deps.turnMs;
    for (;;) {
      if ((await livingOf(instanceId)) !== undefined) return false;
      // What the dead had read comes first: it is older. And one that is taken now must not come again at once.
      const again = await inbox.takeAgain(instanceId, { max: MOST_MESSAGES, idleMs, except: failed });
      if (again.died > 0) meter.count('scheduler_phase2_dlq_moved_total', undefined, again.died);
      if (again.messages.length > 0)
        meter.count('scheduler_phase2_reclaimed_total', undefined, again.messages.length);
      const messages =
        again.messages.length > 0
          ? again.messages
          : await inbox.take(instanceId, { max: MOST_MESSAGES, waitMs: 0 });
      if (messages.length === 0) return failed.size === 0 && (await inbox.close(instanceId)) === 'closed';
      const handled: string[] = [];
      const handleLane = async (lane: readonly InboxMessage[]): Promise<void> => {
        for (const message of lane) {
          if (await handle(instanceId, message, again.messages.length > 0)) handled.push(message.messageId);
          else failed.add(message.messageId);
        }
      };
      // One may take its time, where the store is away: those of other lanes do not wait for it.
      await Promise.all(inLanes(messages).map(handleLane));
      state.hasRefused ||= failed.size > 0;
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

  async function adopt(instanceId: string, state: Dead): Promise<void> {
    const jobs = await adoptJobs(instanceId);
    if (!(await emptyInbox(instanceId, state))) return;
    // Once more: the dead may have written until its very end, and the index comes before the job.
    const late = await adoptJobs(instanceId);
    if ((await livingOf(instanceId)) !== undefined) return;
    await takeoverStore.inheritSettled(instanceId);
    if (!(await takeoverStore.forgetIndexes(instanceId))) return;
    await deps.orphan(instanceId);
    await deps.instances.remove(instanceId);
    meter.count('scheduler_takeovers_total');
    log.warn({ instance_id: instanceId, jobs: jobs + late }, 'adopted what a dead instance left behind');
  }

  async function consider(instanceId: string): Promise<void> {
    const state = known.get(instanceId);
    if (state === undefined || state.isUnderWay || deps.isFenced()) return;
    state.isUnderWay = true;
    try {
      if (await isMyTurn(instanceId, state.since)) await adopt(instanceId, state);
    } catch (fault) {
      log.warn(
        { instance_id: instanceId, err: fault },
        'an adoption stopped half-way; it goes on at the next look',
      );
    } finally {
      state.isUnderWay = false;
    }
  }

  return {
    died(instanceIds) {
      for (const instanceId of known.keys()) if (!instanceIds.includes(instanceId)) known.delete(instanceId);
      for (const instanceId of instanceIds) {
        if (!known.has(instanceId))
          known.set(instanceId, { since: clock.now(), isUnderWay: false, hasRefused: false });
        void consider(instanceId);
      }
    },

    async ownPast() {
      try {
        const jobs = await adoptJobs(deps.self().instanceId);
        if (jobs > 0) log.warn({ jobs }, 'took over jobs of an earlier life of this instance');
      } catch (fault) {
        log.warn({ err: fault }, 'jobs of an earlier life of this instance could not be taken over yet');
        clock.after(AGAIN_MS, () => void this.ownPast());
      }
    },
  };
}
