/** The utterances of one conversation and their outcomes: none may be lost, doubled or out of order. No clock, no I/O. */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { Said } from '../simulated-speech.ts';

export interface Outcome {
  readonly utteranceIndex: number;
  /** Unknown if the connection was lost before the scheduler named the request. */
  readonly requestId: string | undefined;
  readonly jobId: string | undefined;
  /** Absent: it was translated. */
  readonly missing: string | undefined;
}

export interface OutcomeReport {
  readonly verdict: 'good' | 'doubled' | 'out_of_order';
  readonly said: Said | undefined;
  /** From the last sound to the outcome. */
  readonly latencyMs: number | undefined;
}

export interface Counts {
  readonly utterances: number;
  readonly results: number;
  readonly missing: Readonly<Record<string, number>>;
  /** Spoken or accepted, and without outcome. Final only after the last outcome has arrived. */
  readonly lost: number;
  readonly doubled: number;
  readonly outOfOrder: number;
  readonly refusedBytes: number;
  readonly disconnects: number;
  readonly resumed: number;
  /** Could not be resumed: a new session, in which open utterances are sent again. */
  readonly reopened: number;
}

export interface Tally {
  opened(isResumed: boolean): void;
  disconnected(): void;
  said(requestId: string, said: Said, endedAt: number): void;
  refused(bytes: number): void;
  accepted(utteranceIndex: number, requestId: string | undefined): void;
  outcome(outcome: Outcome, at: number): OutcomeReport;
  counts(): Counts;
}

interface Spoken {
  readonly said: Said;
  readonly endedAt: number;
}

/** Outcomes that are kept to detect repeats. */
const REMEMBERED = 1_000;

export function createTally(): Tally {
  /** Without any outcome, in the order of speaking. */
  const open = new Map<string, Spoken>();
  const answered = createBoundedMap<string, Spoken>({ max: REMEMBERED });
  /** Accepted by the current session, and without outcome. */
  const awaited = new Map<number, string | undefined>();
  const seen = createBoundedMap<number, true>({ max: REMEMBERED });
  const jobs = createBoundedMap<string, true>({ max: REMEMBERED });
  const missing: Record<string, number> = {};
  const counts = { utterances: 0, results: 0, doubled: 0, outOfOrder: 0, refusedBytes: 0 };
  const connection = { disconnects: 0, resumed: 0, reopened: 0 };
  let highestIndex = -1;
  let hasOpened = false;

  function verdictOn({ utteranceIndex, jobId }: Outcome): OutcomeReport['verdict'] {
    if (seen.has(utteranceIndex) || (jobId !== undefined && jobs.has(jobId))) return 'doubled';
    return utteranceIndex < highestIndex ? 'out_of_order' : 'good';
  }

  /** Outcomes arrive in order, so an outcome without a request id belongs to the first open request. */
  function requestOf({ utteranceIndex, requestId }: Outcome): string | undefined {
    const [first] = open.keys();
    return requestId ?? awaited.get(utteranceIndex) ?? first;
  }

  function settle(outcome: Outcome): Spoken | undefined {
    const requestId = requestOf(outcome);
    awaited.delete(outcome.utteranceIndex);
    if (requestId === undefined) return undefined;
    const spoken = open.get(requestId);
    if (spoken !== undefined) {
      open.delete(requestId);
      answered.set(requestId, spoken);
    }
    return answered.get(requestId);
  }

  return {
    opened(isResumed) {
      if (isResumed) connection.resumed += 1;
      else if (hasOpened) connection.reopened += 1;
      hasOpened = true;
      if (isResumed) return;
      // A new session: its numbers start again, and earlier utterances are accepted again.
      awaited.clear();
      seen.clear();
      highestIndex = -1;
    },
    disconnected() {
      if (hasOpened) connection.disconnects += 1;
    },
    said(requestId, said, endedAt) {
      counts.utterances += 1;
      open.set(requestId, { said, endedAt });
    },
    refused(bytes) {
      counts.refusedBytes += bytes;
    },
    accepted(utteranceIndex, requestId) {
      if (!seen.has(utteranceIndex)) awaited.set(utteranceIndex, requestId);
    },
    outcome(outcome, at) {
      const verdict = verdictOn(outcome);
      if (verdict === 'doubled') {
        counts.doubled += 1;
        return { verdict, said: undefined, latencyMs: undefined };
      }
      if (verdict === 'out_of_order') counts.outOfOrder += 1;
      const { utteranceIndex, jobId } = outcome;
      highestIndex = Math.max(highestIndex, utteranceIndex);
      seen.set(utteranceIndex, true);
      if (jobId !== undefined) jobs.set(jobId, true);
      if (outcome.missing === undefined) counts.results += 1;
      else missing[outcome.missing] = (missing[outcome.missing] ?? 0) + 1;
      const spoken = settle(outcome);
      return { verdict, said: spoken?.said, latencyMs: spoken && Math.max(0, at - spoken.endedAt) };
    },
    counts() {
      const unanswered = new Set(open.keys());
      const parts = [...awaited.values()].filter((id) => id === undefined || !unanswered.has(id));
      return { ...counts, ...connection, missing: { ...missing }, lost: open.size + parts.length };
    },
  };
}
