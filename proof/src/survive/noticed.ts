/** What people noticed between two moments of a talk, in words. Pure. */

/** A line of `lingua talk --json`, as far as it is read here. */
export interface TalkLine {
  readonly event: string;
  /** Or the person, in a room. */
  readonly pair: number;
  /** Since the session was lost. */
  readonly afterMs?: number;
  /** Absent: the utterance has a translation. */
  readonly missing?: string;
  readonly report?: { readonly verdict: string; readonly latencyMs?: number | undefined };
}

export interface Noticed {
  readonly utterances: number;
  /** Reason → how many utterances got it instead of a translation. */
  readonly missing: Readonly<Record<string, number>>;
  readonly slowestMs: number | undefined;
  readonly medianMs: number | undefined;
  /** Pairs that lost their connection. */
  readonly disconnected: number;
  /** Of those that came back, the longest absence. */
  readonly awayMs: number | undefined;
  /** New sessions, because the old ones could not be resumed. */
  readonly reopened: number;
  readonly doubled: number;
  readonly outOfOrder: number;
}

export function noticed(lines: readonly TalkLine[]): Noticed {
  const outcomes = lines.filter(({ event }) => event === 'outcome');
  const latencies = outcomes
    .flatMap(({ report }) => (report?.latencyMs === undefined ? [] : [report.latencyMs]))
    .sort((one, other) => one - other);
  const missing: Record<string, number> = {};
  for (const { missing: reason } of outcomes)
    if (reason !== undefined) missing[reason] = (missing[reason] ?? 0) + 1;
  const returns = lines.filter(({ event }) => event === 'resumed' || event === 'reopened');
  const judged = (verdict: string): number =>
    outcomes.filter(({ report }) => report?.verdict === verdict).length;
  return {
    utterances: outcomes.length,
    missing,
    slowestMs: latencies.at(-1),
    medianMs: latencies[Math.floor(latencies.length / 2)],
    disconnected: new Set(lines.filter(({ event }) => event === 'disconnected').map(({ pair }) => pair)).size,
    awayMs: returns.length === 0 ? undefined : Math.max(...returns.map(({ afterMs = 0 }) => afterMs)),
    reopened: returns.filter(({ event }) => event === 'reopened').length,
    doubled: judged('doubled'),
    outOfOrder: judged('out_of_order'),
  };
}

/** One line. `all`: such as `4 pairs`. */
export function noticedLine(seen: Noticed, all: string): string {
  const untranslated = Object.entries(seen.missing).map(([reason, count]) => `${reason} ${count}`);
  const lost =
    seen.disconnected === 0
      ? 'no connection lost'
      : `${seen.disconnected} of ${all} lost their connection` +
        (seen.awayMs === undefined
          ? ' and are not back yet'
          : `, back after at most ${inSeconds(seen.awayMs)}`) +
        (seen.reopened > 0 ? `, ${seen.reopened} of them in a new session` : ', session resumed');
  const delays =
    seen.slowestMs === undefined
      ? 'no translation'
      : `slowest translation ${inSeconds(seen.slowestMs)} (half of them within ${inSeconds(seen.medianMs ?? 0)})`;
  return [
    lost,
    `${seen.utterances} utterances`,
    delays,
    untranslated.length === 0 ? 'all translated' : `not translated: ${untranslated.join(', ')}`,
    ...(seen.doubled > 0 ? [`doubled ${seen.doubled}`] : []),
    ...(seen.outOfOrder > 0 ? [`out of order ${seen.outOfOrder}`] : []),
  ].join('; ');
}

const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
