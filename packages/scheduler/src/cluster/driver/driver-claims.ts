/** Cold path: finds the driver of a job that a repeated request found, and takes the job over from a dead driver. */
import type { DispatchOutcome } from '../../domain/dispatch.ts';
import { driverName, instanceOf, type JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { AudioAt } from '../../domain/job-spec.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Instance } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';
import type { MessageBus } from '../messaging/message-bus.ts';
import { readMessage } from '../messaging/read-message.ts';
import type { TakeoverStore } from '../recovery/takeover.ts';

export type Claimed = { kind: 'ours'; job: JobRecord } | { kind: 'theirs' } | { kind: 'over' };

type PlacingResult = { readonly kind: 'placed' } | Extract<DispatchOutcome, { readonly kind: 'refused' }>;

interface AudioMessage {
  readonly jobId: JobId;
  readonly at: AudioAt;
}

const OFFER_INTERVAL_MS = 250;
const MAX_OFFERS = 10_000;

export function createDriverClaims(deps: {
  takeoverStore: Pick<TakeoverStore, 'takeOver'>;
  driverOf: (jobId: JobId) => Promise<{ readonly driver: string; readonly isSettled: boolean } | undefined>;
  /** "instance/incarnation" of this one. */
  driver: () => string;
  living: () => Promise<ReadonlyMap<string, Instance>>;
  /** Read from the store, not from the membership view. */
  livingNow: (instanceId: string) => Promise<Instance | undefined>;
  /** Declared dead, and not seen alive since. A missing presence alone does not count. */
  isDead: (instanceId: string) => boolean;
  bus: Pick<MessageBus, 'send' | 'request' | 'on'>;
  audioAt: (jobId: JobId) => AudioAt | undefined;
  audioReturned: (jobId: JobId, at: AudioAt) => void;
  drives: (jobId: JobId) => boolean;
  placingResultHere: (jobId: JobId) => Promise<PlacingResult | undefined>;
  /** It is in flight here, being admitted or being withdrawn. */
  isKnownHere: (jobId: JobId) => boolean;
  recordOf: (jobId: JobId) => Promise<JobRecord | undefined>;
  resume: (job: JobRecord) => void;
  /** How long a job may wait for its first slot. */
  placingResultMs: number;
  clock: Clock;
  jobDeadlineMs: number;
  log: Log;
}) {
  const { takeoverStore, bus, clock, log } = deps;
  /** Jobs whose audio is here and whose driver does not know that yet. */
  const offers = new Set<JobId>();

  bus.on('audio', async (body) => {
    const message = readMessage<AudioMessage>('audio', body, AUDIO);
    const { jobId, at } = message;
    if (deps.drives(jobId)) return deps.audioReturned(jobId, at);
    const stored = await deps.driverOf(jobId);
    if (stored === undefined || stored.isSettled) return;
    const isElsewhere = stored.driver !== deps.driver();
    if (isElsewhere && (await sendToDriver(stored.driver, message))) return;
    const claimed = isElsewhere ? await claimFromDead(jobId) : undefined;
    if (claimed?.kind === 'over') return;
    // The job is being taken over: the message is retried.
    if (claimed?.kind !== 'ours') throw new Error(`job ${jobId} has no driver yet`);
    deps.resume(claimed.job);
    deps.audioReturned(jobId, at);
  });

  /** If the driver died before it indexed the job, a takeover cannot find the job: only this message can. */
  async function claimFromDead(jobId: JobId): Promise<Claimed> {
    const job = await deps.recordOf(jobId);
    return job === undefined ? { kind: 'over' } : claim(job);
  }

  /**
   * False: this driver does not live. A new incarnation under the same name does not know the job; if that is this instance, it would
   * send messages to itself for ever.
   */
  async function sendToDriver(driver: string, message: AudioMessage): Promise<boolean> {
    const instanceId = instanceOf(driver);
    const living = (await deps.living()).get(instanceId);
    if (living === undefined || driverName(living) !== driver) return false;
    return bus.send(instanceId, audioMessage(message));
  }

  // JSON has no undefined.
  bus.on('placing_result', async (body) => (await ownPlacingResult(readJobId(body))) ?? null);

  async function ownPlacingResult(jobId: JobId): Promise<PlacingResult | undefined> {
    const result = await deps.placingResultHere(jobId);
    if (result !== undefined) return result;
    const stored = await deps.driverOf(jobId);
    if (stored === undefined || stored.isSettled || stored.driver !== deps.driver()) return undefined;
    const orphan = await orphanRecordOf(jobId);
    if (orphan === undefined) return undefined;
    deps.resume(orphan);
    return deps.placingResultHere(jobId);
  }

  /**
   * A record that names this instance as driver of a job it does not know: the admission was withdrawn, and a failover lost that write.
   * Every repeated request would find the record, and no instance would drive the job.
   */
  async function orphanRecordOf(jobId: JobId): Promise<JobRecord | undefined> {
    if (deps.isKnownHere(jobId)) return undefined;
    const job = await deps.recordOf(jobId);
    // It may have been admitted or settled during the read.
    return job === undefined || isSettled(job.state) || deps.isKnownHere(jobId) ? undefined : job;
  }

  /** False: the driver is being replaced, and its successor needs the audio. */
  async function offer(jobId: JobId): Promise<boolean> {
    const stored = await deps.driverOf(jobId);
    const at = deps.audioAt(jobId);
    // If this instance has taken the job over, it finds the audio here.
    if (stored === undefined || stored.isSettled || at === undefined || stored.driver === deps.driver())
      return true;
    return sendToDriver(stored.driver, { jobId, at });
  }

  async function offerUntilReceived(jobId: JobId, until: number): Promise<void> {
    const isReceived = await offer(jobId).catch((fault: unknown) => {
      log.info(
        { job_id: jobId, err: fault },
        'the audio of a repeated request could not be offered to the driver yet',
      );
      return false;
    });
    if (isReceived || clock.now() + OFFER_INTERVAL_MS > until) offers.delete(jobId);
    else clock.after(OFFER_INTERVAL_MS, () => void offerUntilReceived(jobId, until));
  }

  async function claim({ jobId, deadlineAt }: JobRecord): Promise<Claimed> {
    const stored = await deps.driverOf(jobId);
    if (stored === undefined || stored.isSettled) return { kind: 'over' };
    if (stored.driver === deps.driver()) {
      const orphan = await orphanRecordOf(jobId);
      return orphan === undefined ? { kind: 'theirs' } : { kind: 'ours', job: orphan };
    }
    const instanceId = instanceOf(stored.driver);
    const seen = (await deps.living()).get(instanceId);
    const isGone = seen === undefined ? deps.isDead(instanceId) : driverName(seen) !== stored.driver;
    if (!isGone) return { kind: 'theirs' };
    // The view may be old: the driver may have restarted since, and jobs of its new incarnation must not be taken over.
    const living = (await deps.livingNow(instanceId)) ?? seen;
    const from =
      living === undefined ? { instanceId } : { instanceId, livingIncarnation: living.incarnation };
    const taken = await takeoverStore.takeOver({ jobId, deadlineAt }, from);
    if (taken.kind === 'taken') return { kind: 'ours', job: taken.job };
    return { kind: taken.kind === 'driven' ? 'theirs' : 'over' };
  }

  return {
    claim,

    /** The result of the first request for a job that has no node yet. */
    async placingResult({ jobId }: JobRecord): Promise<PlacingResult | undefined> {
      const stored = await deps.driverOf(jobId);
      if (stored === undefined || stored.isSettled) return undefined;
      // A lane of its own: the answer may take long, and reports of the job must not wait behind it.
      const message = { topic: 'placing_result', lane: `placing_result:${jobId}`, body: jobId };
      const result = await bus.request(instanceOf(stored.driver), message, deps.placingResultMs);
      return (result as PlacingResult | null) ?? undefined;
    },

    offerAudio({ jobId, deadlineAt }: JobRecord): void {
      if (offers.has(jobId) || offers.size >= MAX_OFFERS) return;
      offers.add(jobId);
      void offerUntilReceived(jobId, Math.min(deadlineAt, clock.now() + deps.jobDeadlineMs));
    },

    offering: () => offers.size,
  };
}

const AUDIO = { jobId: 'string', at: { url: 'string', token: 'string', bytes: 'number' } } as const;

function readJobId(body: unknown): JobId {
  if (typeof body === 'string') return body;
  throw new Error('malformed message about placing_result: its body');
}

const audioMessage = (body: AudioMessage) => ({ topic: 'audio', lane: body.jobId, body });
