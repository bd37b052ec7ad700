/** What a session measures about itself: counts, and where the time of its utterances went. Bounded; without texts. */
import type { ClientStats } from '@lingua/protocol';
import type { SessionEvent } from './session-events.ts';

export interface LatencyFigures {
  /** Utterances of which it is known. */
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** total: from the end of an utterance in this program to its translation. The others as the scheduler and the node report them. */
export const LATENCY_PARTS = ['total', 'toScheduler', 'toNode', 'asr', 'nmt', 'tts', 'toClient'] as const;
export type LatencyPart = (typeof LATENCY_PARTS)[number];

export interface SessionStats {
  /** Utterances that the application ended. */
  readonly utterances: number;
  readonly results: number;
  /** Utterances without a translation. */
  readonly missing: number;
  /** Connections after the first. */
  readonly reconnects: number;
  /** Of these, the ones on which the session continued. */
  readonly resumes: number;
  /** Audio that was refused because too much waited. */
  readonly refusedBytes: number;
  /** Over the last utterances; parts that are not known are absent. */
  readonly latency: Readonly<Partial<Record<LatencyPart, LatencyFigures>>>;
}

export interface StatsCollector {
  ended(requestId: string, at: number): void;
  note(event: SessionEvent, at: number): void;
  read(): SessionStats;
}

const MAX_SAMPLES = 200;
/** Utterances without an outcome; the oldest are not timed. */
const MAX_UNSETTLED = 1_000;

export function createStatsCollector(): StatsCollector {
  const counts = { utterances: 0, results: 0, missing: 0, reconnects: 0, resumes: 0, refusedBytes: 0 };
  const endedAt = new Map<string, number>();
  const samples = new Map<LatencyPart, number[]>();
  let connections = 0;

  function time(part: LatencyPart, ms: unknown): void {
    if (typeof ms !== 'number' || !Number.isFinite(ms)) return;
    const known = samples.get(part) ?? [];
    samples.set(part, known);
    known.push(Math.max(0, ms));
    if (known.length > MAX_SAMPLES) known.shift();
  }

  function noteResult({ requestId, message }: SessionEvent<'result'>, at: number): void {
    counts.results += 1;
    const since = requestId === undefined ? undefined : endedAt.get(requestId);
    if (since !== undefined) time('total', at - since);
    if (requestId !== undefined) endedAt.delete(requestId);
    // Mostly unchecked, as other parts of the message.
    const { asr_ms, nmt_ms, tts_ms } = Object(message.service_timings) as Record<string, unknown>;
    const network = Object(message.network_timings) as Record<string, unknown>;
    time('asr', asr_ms);
    time('nmt', nmt_ms);
    time('tts', tts_ms);
    time('toScheduler', network.web_to_scheduler_ms);
    time('toNode', network.scheduler_to_node_ms);
    time('toClient', network.scheduler_to_web_ms);
  }

  return {
    ended(requestId, at) {
      counts.utterances += 1;
      endedAt.set(requestId, at);
      if (endedAt.size <= MAX_UNSETTLED) return;
      for (const oldest of endedAt.keys()) {
        endedAt.delete(oldest);
        break;
      }
    },
    note(event, at) {
      if (event.type === 'result') noteResult(event, at);
      else if (event.type === 'missing') {
        counts.missing += 1;
        if (event.requestId !== undefined) endedAt.delete(event.requestId);
      } else if (event.type === 'overflow') counts.refusedBytes += event.refusedBytes;
      else if (event.type === 'open') {
        connections += 1;
        if (connections > 1) counts.reconnects += 1;
        if (event.resumed) counts.resumes += 1;
      }
    },
    read: () => ({
      ...counts,
      latency: Object.fromEntries([...samples].map(([part, values]) => [part, figuresOf(values)])),
    }),
  };
}

function figuresOf(values: readonly number[]): LatencyFigures {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** What the scheduler gets with the close of the session, if the application agrees. */
export const reportOf = ({ results, missing, resumes, latency: { total } }: SessionStats): ClientStats => ({
  results,
  missing,
  resumes,
  ...(total !== undefined && { latency_p50_ms: total.p50Ms, latency_p99_ms: total.p99Ms }),
});
