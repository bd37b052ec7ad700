/** What was said and what came of it, for one conversation: nothing may be lost, doubled or out of order. No clock, no I/O. */
import type { Said } from '../simulated-speech.ts';
import { createRecent } from './recent.ts';

export interface Outcome {
  readonly utteranceIndex: number;
  /** Unknown if the connection was lost before the scheduler could say which request it is. */
  readonly requestId: string | undefined;
  readonly jobId: string | undefined;
  /** Absent: it was translated. */
  readonly missing: string | undefined;
}

export interface Told {
  readonly verdict: 'good' | 'doubled' | 'out_of_order';
  readonly said: Said | undefined;
  /** From the last sound to the outcome. */
  readonly latencyMs: number | undefined;
}

export interface Counts {
  readonly utterances: number;
  readonly results: number;
  readonly missing: Readonly<Record<string, number>>;
  /** Said, or accepted, and without outcome. Right only when all that is to come has come. */
  readonly lost: number;
  readonly doubled: number;
  readonly outOfOrder: number;
  readonly refusedBytes: number;
  readonly disconnects: number;
  readonly resumed: number;
  /** Could not be resumed: a new session, in which all is sent again. */
  readonly reopened: number;
}

export interface Tally {
  opened(isResumed: boolean): void;
  disconnected(): void;
  said(requestId: string, said: Said, endedAt: number): void;
  refused(bytes: number): void;
  accepted(utteranceIndex: number, requestId: string | undefined): void;
  outcome(outcome: Outcome, at: number): Told;
  counts(): Counts;
}

interface Spoken {
  readonly said: Said;
  readonly endedAt: number;
}

/** Outcomes that are remembered to tell repeats. */
const REMEMBERED = 1_000;

export function createTally(): Tally {
  /** Without any outcome, in the order they were said. */
  const open = new Map<string, Spoken>();
  const answered = createRecent<string, Spoken>(REMEMBERED);
  /** Accepted by the session that is open now, and without outcome. */
  const awaited = new Map<number, string | undefined>();
  let seen = createRecent<number, true>(REMEMBERED);
  const jobs = createRecent<string, true>(REMEMBERED);
  const missing: Record<string, number> = {};
  const counts = { utterances: 0, results: 0, doubled: 0, outOfOrder: 0, refusedBytes: 0 };
  const connection = { disconnects: 0, resumed: 0, reopened: 0 };
  let highestIndex = -1;
  let hasOpened = false;

  function verdictOn({ utteranceIndex, jobId }: Outcome): Told['verdict'] {
    if (seen.has(utteranceIndex) || (jobId !== undefined && jobs.has(jobId))) return 'doubled';
    return utteranceIndex < highestIndex ? 'out_of_order' : 'good';
  }

  /** Outcomes come in order, so one without a name is that of the first request that has none. */
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
      answered.add(requestId, spoken);
    }
    return answered.get(requestId);
  }

  return {
    opened(isResumed) {
      if (isResumed) connection.resumed += 1;
      else if (hasOpened) connection.reopened += 1;
      hasOpened = true;
      if (isResumed) return;
      // A new session: its numbers begin anew, and what was accepted before is accepted again.
      awaited.clear();
      seen = createRecent(REMEMBERED);
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
      seen.add(utteranceIndex, true);
      if (jobId !== undefined) jobs.add(jobId, true);
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
