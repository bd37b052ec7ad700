/** Cold path: who drives a job that a repeat of its request found here, and how to take it from a driver that is dead. */
import type { DispatchOutcome } from '../../domain/dispatch.ts';
import { driverName, instanceOf } from '../../domain/driver-name.ts';
import type { JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { AudioAt } from '../../domain/job-spec.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Instance } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';
import type { MessageBus } from '../messaging/message-bus.ts';
import { readMessage } from '../messaging/read-message.ts';
import type { TakeoverStore } from '../recovery/takeover.ts';

export type Claimed = { kind: 'ours'; job: JobRecord } | { kind: 'theirs' } | { kind: 'over' };

type ReportOutcome = { readonly kind: 'placed' } | Extract<DispatchOutcome, { readonly kind: 'refused' }>;

interface AudioMessage {
  readonly jobId: JobId;
  readonly at: AudioAt;
}

const OFFER_AGAIN_MS = 250;
const MOST_OFFERS = 10_000;

export function createJobClaims(deps: {
  takeoverStore: Pick<TakeoverStore, 'takeOver'>;
  driverOf: (jobId: JobId) => Promise<{ readonly driver: string; readonly isSettled: boolean } | undefined>;
  /** "instance/incarnation" of this one. */
  driver: () => string;
  living: () => Promise<ReadonlyMap<string, Instance>>;
  /** Of the store, and not as last seen. */
  livingNow: (instanceId: string) => Promise<Instance | undefined>;
  /** Declared dead, and not seen alive since: silence alone proves nothing. */
  isDead: (instanceId: string) => boolean;
  bus: Pick<MessageBus, 'tell' | 'ask' | 'on'>;
  audioAt: (jobId: JobId) => AudioAt | undefined;
  audioReturned: (jobId: JobId, at: AudioAt) => void;
  drives: (jobId: JobId) => boolean;
  verdictHere: (jobId: JobId) => Promise<ReportOutcome | undefined>;
  /** It is in flight here, being admitted or being taken back. */
  isConcernedWith: (jobId: JobId) => boolean;
  recordOf: (jobId: JobId) => Promise<JobRecord | undefined>;
  adopt: (job: JobRecord) => void;
  /** How long a job may wait for its first slot. */
  verdictMs: number;
  clock: Clock;
  jobDeadlineMs: number;
  log: Log;
}) {
  const { takeoverStore, bus, clock, log } = deps;
  /** Audio that is held here for a job whose driver does not know it yet. */
  const offers = new Set<JobId>();

  bus.on('audio', async (body) => {
    const message = readMessage<AudioMessage>('audio', body, AUDIO);
    const { jobId, at } = message;
    if (deps.drives(jobId)) return deps.audioReturned(jobId, at);
    const stored = await deps.driverOf(jobId);
    if (stored === undefined || stored.isSettled) return;
    const isElsewhere = stored.driver !== deps.driver();
    if (isElsewhere && (await tellDriver(stored.driver, message))) return;
    const claimed = isElsewhere ? await claimFromDead(jobId) : undefined;
    if (claimed?.kind === 'over') return;
    // Somebody is just taking it over: the message comes again.
    if (claimed?.kind !== 'ours') throw new Error(`nobody drives job ${jobId} yet`);
    deps.adopt(claimed.job);
    deps.audioReturned(jobId, at);
  });

  /** A driver that died before it had indexed the job: nobody finds that one but whoever is asked about it. */
  async function claimFromDead(jobId: JobId): Promise<Claimed> {
    const job = await deps.recordOf(jobId);
    return job === undefined ? { kind: 'over' } : claim(job);
  }

  /**
   * False: no such driver lives. One that runs under the same name since is another, and knows nothing of the job; were this instance
   * that other, it would write to itself for ever.
   */
  async function tellDriver(driver: string, message: AudioMessage): Promise<boolean> {
    const instanceId = instanceOf(driver);
    const living = (await deps.living()).get(instanceId);
    if (living === undefined || driverName(living) !== driver) return false;
    return bus.tell(instanceId, audioLetter(message));
  }

  // Null, because nothing else of "nothing" survives a message.
  bus.on('verdict', async (body) => (await verdictOfOurs(readJobId(body))) ?? null);

  async function verdictOfOurs(jobId: JobId): Promise<ReportOutcome | undefined> {
    const verdict = await deps.verdictHere(jobId);
    if (verdict !== undefined) return verdict;
    const stored = await deps.driverOf(jobId);
    if (stored === undefined || stored.isSettled || stored.driver !== deps.driver()) return undefined;
    const stray = await strayOf(jobId);
    if (stray === undefined) return undefined;
    deps.adopt(stray);
    return deps.verdictHere(jobId);
  }

  /**
   * A record that names this instance, which knows nothing of it: it was taken back, and a failover that lost this brought it
   * back. Every repeat of its request would find it, and nobody would drive it.
   */
  async function strayOf(jobId: JobId): Promise<JobRecord | undefined> {
    if (deps.isConcernedWith(jobId)) return undefined;
    const job = await deps.recordOf(jobId);
    // It may have been admitted, or settled, while the store was asked.
    return job === undefined || isSettled(job.state) || deps.isConcernedWith(jobId) ? undefined : job;
  }

  /** False: whoever drove it is being replaced, and its successor will have to ask for the audio. */
  async function offer(jobId: JobId): Promise<boolean> {
    const stored = await deps.driverOf(jobId);
    const at = deps.audioAt(jobId);
    // Adopted here meanwhile, it finds the audio by itself.
    if (stored === undefined || stored.isSettled || at === undefined || stored.driver === deps.driver())
      return true;
    return tellDriver(stored.driver, { jobId, at });
  }

  async function offerUntilHeard(jobId: JobId, until: number): Promise<void> {
    const isHeard = await offer(jobId).catch((fault: unknown) => {
      log.info({ job_id: jobId, err: fault }, 'audio that came again could not be offered to the driver yet');
      return false;
    });
    if (isHeard || clock.now() + OFFER_AGAIN_MS > until) offers.delete(jobId);
    else clock.after(OFFER_AGAIN_MS, () => void offerUntilHeard(jobId, until));
  }

  async function claim({ jobId, deadlineAt }: JobRecord): Promise<Claimed> {
    const stored = await deps.driverOf(jobId);
    if (stored === undefined || stored.isSettled) return { kind: 'over' };
    if (stored.driver === deps.driver()) {
      const stray = await strayOf(jobId);
      return stray === undefined ? { kind: 'theirs' } : { kind: 'ours', job: stray };
    }
    const instanceId = instanceOf(stored.driver);
    const seen = (await deps.living()).get(instanceId);
    const isGone = seen === undefined ? deps.isDead(instanceId) : driverName(seen) !== stored.driver;
    if (!isGone) return { kind: 'theirs' };
    // What was seen is a moment old: it may have been started again since, and what its next life drives is its own.
    const living = (await deps.livingNow(instanceId)) ?? seen;
    const from =
      living === undefined ? { instanceId } : { instanceId, livingIncarnation: living.incarnation };
    const taken = await takeoverStore.takeOver({ jobId, deadlineAt }, from);
    if (taken.kind === 'taken') return { kind: 'ours', job: taken.job };
    return { kind: taken.kind === 'driven' ? 'theirs' : 'over' };
  }

  return {
    claim,

    /** What came of the first request for a job that has no node yet. */
    async placingResult({ jobId }: JobRecord): Promise<ReportOutcome | undefined> {
      const stored = await deps.driverOf(jobId);
      if (stored === undefined || stored.isSettled) return undefined;
      // A lane of its own: it may wait for long, and what nodes say of the job must not wait behind it.
      const message = { topic: 'verdict', lane: `verdict:${jobId}`, body: jobId };
      const verdict = await bus.ask(instanceOf(stored.driver), message, deps.verdictMs);
      return (verdict as ReportOutcome | null) ?? undefined;
    },

    offerAudio({ jobId, deadlineAt }: JobRecord): void {
      if (offers.has(jobId) || offers.size >= MOST_OFFERS) return;
      offers.add(jobId);
      void offerUntilHeard(jobId, Math.min(deadlineAt, clock.now() + deps.jobDeadlineMs));
    },

    offering: () => offers.size,
  };
}

const AUDIO = { jobId: 'string', at: { url: 'string', token: 'string', bytes: 'number' } } as const;

function readJobId(body: unknown): JobId {
  if (typeof body === 'string') return body;
  throw new Error('a message that asks for a verdict on no job');
}

const audioLetter = (body: AudioMessage) => ({ topic: 'audio', lane: body.jobId, body });
