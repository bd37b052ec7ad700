/**
 * Hot path, after a move: speech that another instance accepted is sent again, and goes to its job again, under the same request. So a
 * job whose audio died with its holder gets it back, and one that was never recorded is recorded; no job is made twice.
 */

import type { Chunk, GivenUtterance } from '../event.ts';
import { announceAgain } from '../outcomes/progress.ts';
import type { Session, Utterance } from '../session.ts';
import type { Step } from '../step-context.ts';
import { claimAudioBudget, dropGathered } from './audio-budget.ts';
import { bindingName, fingerprintOf } from './binding.ts';
import { orderJob, WHOLE_PIPELINE } from './build-job.ts';
import { choosePool } from './preferred-pool.ts';

type Speech = Pick<GivenUtterance, 'speech' | 'audio' | 'source' | 'pipeline' | 'isManualCut'>;

/** A whole utterance. False: its audio is not wanted. */
export function attachAgain(
  step: Step,
  session: Session,
  utterance: Utterance,
  given: GivenUtterance,
): boolean {
  const { requestId } = utterance;
  const bytes = given.audio?.length ?? 0;
  if (!isWanted(utterance) || requestId === undefined) return false;
  if (session.audioBytes + bytes > step.settings.maxAudioBytes) return false;
  session.audioBytes += bytes;
  order(step, session, utterance, given, requestId);
  announceAgain(step, session, utterance);
  return true;
}

/** Once is enough, and only while there is something to be done with it. */
const isWanted = ({ isAudioElsewhere, isSettled }: Utterance): boolean => isAudioElsewhere && !isSettled;

/**
 * A chunk that is repeated. Chunks of one utterance come in order and from its first one on, or they are of no use.
 * False: it is not wanted.
 */
export function gather(step: Step, session: Session, { seq, audio }: Chunk): boolean {
  const utterance = session.delivery.waiting.find(
    ({ firstSeq = Number.POSITIVE_INFINITY, lastSeq = -1 }) => firstSeq <= seq && seq <= lastSeq,
  );
  const { requestId, firstSeq } = utterance ?? {};
  const isOurs = utterance !== undefined && isWanted(utterance) && audio !== undefined;
  if (!isOurs || requestId === undefined || firstSeq === undefined) return false;
  if (seq === firstSeq) begin(step, session, utterance);
  const { gathered } = session;
  if (gathered?.utterance !== utterance || seq <= gathered.lastSeq) return false;
  if (!claimAudioBudget(step, session, audio.length)) {
    dropGathered(step, session);
    return false;
  }
  gathered.chunks.push(audio);
  gathered.bytes += audio.length;
  gathered.lastSeq = seq;
  if (seq === utterance.lastSeq) finish(step, session, utterance, bindingName(requestId, firstSeq));
  return true;
}

function begin(step: Step, session: Session, utterance: Utterance): void {
  dropGathered(step, session);
  session.gathered = { utterance, chunks: [], bytes: 0, lastSeq: -1 };
}

function finish(step: Step, session: Session, utterance: Utterance, binding: string): void {
  const { gathered } = session;
  if (gathered === undefined) return;
  session.gathered = undefined;
  step.audio.unclaim(gathered.bytes);
  const audio = Buffer.concat(gathered.chunks);
  const source = { kind: 'held', bytes: audio.length } as const;
  const { speech } = session.opening;
  order(step, session, utterance, { speech, audio, source, isManualCut: true }, binding);
}

/** Its bytes are counted against the session already. */
function order(step: Step, session: Session, utterance: Utterance, said: Speech, requestId: string): void {
  const { settings } = step;
  utterance.isAudioElsewhere = false;
  utterance.audioBytes = said.audio?.length ?? 0;
  session.pool = choosePool(session.pool, session, said.speech.languages, step.pools);
  const whole = {
    speech: said.speech,
    pipeline: said.pipeline ?? WHOLE_PIPELINE,
    source: said.source,
    audio: said.audio,
    cut: said.isManualCut ? ('manual' as const) : ('pause' as const),
    paddingMs: said.isManualCut ? settings.paddingManualMs : settings.paddingAutoMs,
    turnId: undefined,
    contextText: undefined,
    binding: { requestId, fingerprint: fingerprintOf(step, said) },
    poolId: session.pool.poolId,
    waitMs: settings.pendingTimeoutMs,
  };
  // Not under the name of its job: that is found by its request, and one that a failover lost must not have a successor of the same name.
  const { jobId: _, ...request } = orderJob(session, utterance, whole, step.require);
  step.effects.push({ kind: 'dispatch', utterance, request });
}
