/** I1: no node ever has more jobs in hand than slots, as the node itself counts. Pure. */
import {
  type Happening,
  nameOf,
  ofKind,
  type Run,
} from '../../../packages/scheduler/dist/simulation/history.js';
import { covers, type Fault, lossWindows } from './faults.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

interface Hands {
  readonly slots: number;
  /** Runs by job; a node does not do the same job twice at a time. */
  readonly running: Map<string, Run>;
  readonly cancelled: Set<string>;
  /** When jobs arrived, latest last. */
  readonly arrivals: number[];
}

/** A write that was acknowledged this long before its master died may not have reached the replica. */
const LOSS_MS = 1_000;

export function checkCapacity(history: readonly Happening[], { failoverMs }: Allowances): Finding {
  const losses = lossWindows(history, failoverMs);
  const nodes = new Map<string, Hands>();
  const violations: Violation[] = [];
  const counts = { oversold: 0, 'oversold after a failover': 0, 'oversold beside cancelled jobs': 0 };
  let most = 0;

  function judge(hands: Hands, run: Run, at: number): void {
    const { slots, running, cancelled } = hands;
    // The one that came is in hand too, whether the node took it or not.
    const all = running.size + (running.has(run.job) ? 0 : 1);
    const wanted = [...running.keys()].filter((job) => !cancelled.has(job) && job !== run.job).length + 1;
    if (all <= slots) return;
    if (wanted <= slots) counts['oversold beside cancelled jobs'] += 1;
    else if (losses.some((loss) => excuses(loss, hands, wanted - slots, at)))
      counts['oversold after a failover'] += 1;
    else {
      counts.oversold += 1;
      violations.push({
        invariant: 'I1 no oversell',
        at,
        says: `${run.node} has ${slots} slots and got ${nameOf(run)} while it had ${[...running.values()].map(nameOf).join(', ')}`,
        about: [run.node, run.job],
      });
    }
  }

  for (const each of ofKind(
    history,
    'node_up',
    'node_down',
    'started',
    'ended',
    'turned_away',
    'cancel_told',
  )) {
    if (each.kind === 'node_up') {
      nodes.set(each.node, { slots: each.slots, running: new Map(), cancelled: new Set(), arrivals: [] });
      continue;
    }
    const hands = nodes.get(each.node);
    if (hands === undefined) continue;
    if (each.kind === 'started' || each.kind === 'turned_away') {
      judge(hands, each, each.at);
      hands.arrivals.push(each.at);
    }
    if (each.kind === 'started') hands.running.set(each.job, each);
    else if (each.kind === 'ended') forget(hands, each.job);
    else if (each.kind === 'cancel_told') hands.cancelled.add(each.job);
    else if (each.kind === 'node_down') nodes.delete(each.node);
    most = Math.max(most, hands.running.size);
  }
  return { violations, counts: { ...counts, 'most jobs at once on a node': most } };
}

function forget(hands: Hands, job: string): void {
  hands.running.delete(job);
  hands.cancelled.delete(job);
}

/** Only as many may be too many as were written when writes were lost. */
function excuses(loss: Fault, { arrivals }: Hands, excess: number, at: number): boolean {
  if (!covers(loss, at)) return false;
  const unsafe = arrivals.filter((arrival) => loss.beganAt - LOSS_MS <= arrival && arrival <= loss.endedAt);
  return excess <= unsafe.length;
}
