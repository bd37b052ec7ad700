/** Hedges: no more than the budget (I11), and what lost the race is cancelled (I4). Pure. */
import { type HistoryEvent, nameOf, ofKind, type Run } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { spansOf } from './faults.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

interface Life {
  readonly startedAt: number;
  /** When it ended, or its node got a cancel for it. */
  overAt: number | undefined;
}

export function checkHedges({ history, faults, seen }: Facts, allowances: Allowances): Finding {
  const { flightMs, messageMs, hedgePercent } = allowances;
  const hedges = ofKind(history, 'hedged');
  const disturbed = spansOf(faults, () => true, { after: messageMs });
  const lifeOf = livesOf(history);
  const violations: Violation[] = [];
  let [judged, acknowledged, sent] = [0, 0, 0];

  for (const each of ofKind(history, 'acknowledged', 'hedged')) {
    if (each.kind === 'acknowledged') acknowledged += 1;
    else sent += 1;
    if (each.kind === 'acknowledged' || 100 * sent <= hedgePercent * acknowledged) continue;
    violations.push({
      invariant: 'I11 bounded',
      at: each.at,
      message: `${nameOf(each)} is hedge ${sent} after ${acknowledged} acknowledged attempts, of which ${hedgePercent} % may be hedged`,
      about: [each.job, each.instance],
    });
  }

  for (const hedge of hedges) {
    const settledAt = seen.settledAt(hedge.job);
    if (settledAt === undefined || disturbed.meets(hedge.at - messageMs, settledAt + flightMs)) continue;
    for (const run of runsOf(history, hedge)) {
      const life = lifeOf(run);
      if (life === undefined) continue;
      judged += 1;
      if ((life.overAt ?? Number.POSITIVE_INFINITY) <= settledAt + flightMs) continue;
      violations.push({
        invariant: 'I4 fencing',
        at: settledAt,
        message: `${run.node} works on ${nameOf(run)}, whose other attempt brought the result, and got no cancel`,
        about: [run.job, run.node],
      });
    }
  }
  return {
    violations,
    counts: hedges.length === 0 ? {} : { hedges: hedges.length },
    judged: { 'I4 fencing': judged, 'I11 bounded': hedges.length },
  };
}

/** The hedge as its node got it, and the attempt beside which it was sent. */
function runsOf(history: readonly HistoryEvent[], hedge: Run & { readonly at: number }): readonly Run[] {
  const all = ofKind(history, 'assigned').filter(({ job }) => job === hedge.job);
  return [
    ...all.filter(({ attempt, at }) => attempt === hedge.attempt && at >= hedge.at).slice(0, 1),
    ...all.filter(({ attempt, at }) => attempt < hedge.attempt && at <= hedge.at).slice(-1),
  ];
}

function livesOf(history: readonly HistoryEvent[]): (run: Run) => Life | undefined {
  const lives = new Map<string, Life>();
  const keyOf = ({ node, job }: Pick<Run, 'node' | 'job'>): string => `${node} ${job}`;
  for (const each of ofKind(history, 'started', 'ended', 'cancel_received')) {
    const life = lives.get(keyOf(each));
    // A node has an attempt of a job once.
    if (each.kind === 'started') lives.set(keyOf(each), { startedAt: each.at, overAt: undefined });
    else if (life !== undefined) life.overAt ??= each.at;
  }
  return (run) => lives.get(keyOf(run));
}
