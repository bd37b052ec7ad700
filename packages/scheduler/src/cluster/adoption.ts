/**
 * Background actor: takes over what dead instances left behind: the jobs they drove, the letters they did not read; then forgets them.
 *
 * Every step may be repeated and done by several at once: a job is taken over by comparison with its driver, a letter is handled
 * as if it had come here, an inbox is closed only when it is empty. Who begins first follows from the names alone, so that
 * survivors seldom do the same work twice; the others come to help if it takes too long.
 */
import type { JobId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { Clock } from '../ports/clock.ts';
import type { Inbox } from '../ports/inbox.ts';
import type { Instance, Instances } from '../ports/instances.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';

export interface Position {
  readonly jobId: JobId;
  readonly deadlineAt: number;
}

/** What the store must do for whoever adopts. */
export interface Estate {
  drivenBy(instanceId: string, limit: number): Promise<readonly Position[]>;
  takeOver(
    job: Position,
    from: { readonly instanceId: string; readonly livingIncarnation?: string },
  ): Promise<{ kind: 'taken'; job: JobRecord } | { kind: 'settled' | 'driven' | 'unknown_job' }>;
  inheritSettled(from: string): Promise<void>;
  /** False while a job of it is still to be taken over. */
  forgetIndexes(instanceId: string): Promise<boolean>;
}

export interface Adoption {
  /** These live no more. Said again and again until they are removed. */
  died(instanceIds: readonly string[]): void;
  /** Jobs of an earlier incarnation of this very instance, which crashed and was started again under its name. */
  ownPast(): Promise<void>;
}

/** More than one instance ever drives. */
const MOST_JOBS = 200_000;
const MOST_LETTERS = 64;
const JOBS_AT_ONCE = 32;

export function createAdoption(deps: {
  self: () => Instance;
  living: () => Promise<ReadonlyMap<string, Instance>>;
  isFenced: () => boolean;
  instances: Pick<Instances, 'remove'>;
  inbox: Pick<Inbox, 'take' | 'takeAgain' | 'confirm' | 'close'>;
  estate: Estate;
  adopt: (job: JobRecord) => void;
  /** Its dead letters stay, for operators to look at. */
  orphan: (instanceId: string) => Promise<void>;
  /** Handles a letter as if it had come here. */
  receive: (text: string) => Promise<void>;
  clock: Clock;
  digest: (text: string) => string;
  /** How long one survivor has before the next one helps. */
  turnMs: number;
  log: Log;
  meter: Meter;
}): Adoption {
  const { inbox, estate, clock, log, meter } = deps;
  /** Since when each is known to be dead, and whether it is being adopted here now. */
  const known = new Map<string, { readonly since: number; isUnderWay: boolean }>();

  async function isMyTurn(instanceId: string, since: number): Promise<boolean> {
    const living = [...(await deps.living()).keys()];
    const turns = living.sort((a, b) => (deps.digest(instanceId + a) < deps.digest(instanceId + b) ? -1 : 1));
    const turn = turns.indexOf(deps.self().instanceId);
    return turn >= 0 && clock.now() - since >= turn * deps.turnMs;
  }

  async function adoptJobs(instanceId: string, livingIncarnation?: string): Promise<number> {
    const from = livingIncarnation === undefined ? { instanceId } : { instanceId, livingIncarnation };
    const positions = await estate.drivenBy(instanceId, MOST_JOBS);
    let adopted = 0;
    for (let at = 0; at < positions.length; at += JOBS_AT_ONCE) {
      const some = positions.slice(at, at + JOBS_AT_ONCE);
      for (const taken of await Promise.all(some.map((position) => estate.takeOver(position, from)))) {
        if (taken.kind !== 'taken') continue;
        deps.adopt(taken.job);
        adopted += 1;
      }
    }
    return adopted;
  }

  /** Answers false if something in it could not be handled: then it is looked at again. */
  async function emptyInbox(instanceId: string): Promise<boolean> {
    for (;;) {
      const fresh = await inbox.take(instanceId, { max: MOST_LETTERS, waitMs: 0 });
      const letters = [
        ...fresh,
        ...(await inbox.takeAgain(instanceId, { max: MOST_LETTERS, idleMs: 0 })).letters,
      ];
      if (letters.length === 0) return (await inbox.close(instanceId)) === 'closed';
      const handled: string[] = [];
      for (const { letterId, body } of letters) {
        const isHandled = await deps.receive(body).then(
          () => true,
          (fault: unknown) => {
            log.warn(
              { of: instanceId, letter_id: letterId, err: fault },
              'a dead instance’s letter must wait',
            );
            return false;
          },
        );
        if (isHandled) handled.push(letterId);
      }
      await inbox.confirm(instanceId, handled);
      if (handled.length === 0) return false;
    }
  }

  async function adopt(instanceId: string): Promise<void> {
    const jobs = await adoptJobs(instanceId);
    if (!(await emptyInbox(instanceId))) return;
    // Once more: the dead may have written until its very end, and the index comes before the job.
    const late = await adoptJobs(instanceId);
    await estate.inheritSettled(instanceId);
    if (!(await estate.forgetIndexes(instanceId))) return;
    await deps.orphan(instanceId);
    await deps.instances.remove(instanceId);
    meter.count('scheduler_adoptions_total');
    log.warn({ instance_id: instanceId, jobs: jobs + late }, 'adopted what a dead instance left behind');
  }

  async function consider(instanceId: string): Promise<void> {
    const state = known.get(instanceId);
    if (state === undefined || state.isUnderWay || deps.isFenced()) return;
    state.isUnderWay = true;
    try {
      if (await isMyTurn(instanceId, state.since)) await adopt(instanceId);
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
        if (!known.has(instanceId)) known.set(instanceId, { since: clock.now(), isUnderWay: false });
        void consider(instanceId);
      }
    },

    async ownPast() {
      const { instanceId, incarnation } = deps.self();
      const jobs = await adoptJobs(instanceId, incarnation);
      if (jobs > 0) log.warn({ jobs }, 'took over jobs of an earlier life of this instance');
    },
  };
}
