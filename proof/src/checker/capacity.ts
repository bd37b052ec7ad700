/** I1: no node ever has more jobs in hand than slots, as the node itself counts. Pure. */
import {
  type Happening,
  nameOf,
  ofKind,
  type Run,
} from '../../../packages/scheduler/dist/simulation/history.js';
import type { Facts } from './facts.ts';
import { type Fault, hitsOf, isLost, isOf, lossesOf } from './faults.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

interface InHand extends Run {
  readonly since: number;
  /** Undefined: the node has not said that it took it. */
  acknowledgedAt?: number;
  isCancelled: boolean;
}

interface Hands {
  readonly slots: number;
  readonly acknowledges: boolean;
  /** By job; a node does not do the same job twice at a time. */
  readonly running: Map<string, InHand>;
}

/** What has no lease although it runs. */
type Leaseless = 'its lease ended' | 'unheard of' | 'lost';

const EXCUSES: Readonly<Record<Leaseless, string>> = {
  'its lease ended': 'oversold beside jobs whose lease had ended',
  'unheard of': 'oversold beside jobs that nobody acknowledged in time',
  lost: 'oversold after a failover',
};

export function checkCapacity({ history, faults }: Facts, allowances: Allowances): Finding {
  const whyLeaseless = createLeaseJudge(faults, allowances);
  const nodes = new Map<string, Hands>();
  const violations: Violation[] = [];
  const counts: Record<string, number> = { oversold: 0 };
  for (const name of Object.values(EXCUSES)) counts[name] = 0;
  let most = 0;
  let judged = 0;

  function judge(hands: Hands, run: Run, at: number): void {
    judged += 1;
    const { slots, running } = hands;
    // The one that came is in hand too, whether the node took it or not.
    if (running.size + (running.has(run.job) ? 0 : 1) <= slots) return;
    const others = [...running.values()].filter(({ job }) => job !== run.job);
    const reasons = others.map((each) => whyLeaseless(each, hands, at));
    const wanted = 1 + reasons.filter((why) => why === undefined).length;
    if (wanted <= slots) {
      for (const why of new Set(reasons)) if (why !== undefined) count(EXCUSES[why]);
    } else {
      count('oversold');
      violations.push({
        invariant: 'I1 no oversell',
        at,
        says: `${run.node} has ${slots} slots and got ${nameOf(run)} while it had ${[...running.values()].map(nameOf).join(', ')}`,
        about: [run.node, run.job],
      });
    }
  }

  function count(name: string): void {
    counts[name] = (counts[name] ?? 0) + 1;
  }

  for (const each of ofKind(history, ...KINDS)) {
    if (each.kind === 'node_up') {
      const { slots, acknowledges = false } = each;
      nodes.set(each.node, { slots, acknowledges, running: new Map() });
      continue;
    }
    const hands = nodes.get(each.node);
    if (hands === undefined) continue;
    if (each.kind === 'started' || each.kind === 'turned_away') judge(hands, each, each.at);
    handle(hands, each);
    if (each.kind === 'node_down') nodes.delete(each.node);
    most = Math.max(most, hands.running.size);
  }
  return {
    violations,
    counts: { ...counts, 'most jobs at once on a node': most },
    judged: { 'I1 no oversell': judged },
  };
}

const KINDS = [
  'node_up',
  'node_down',
  'started',
  'acknowledged',
  'ended',
  'turned_away',
  'cancel_told',
] as const;

function handle({ running }: Hands, each: Extract<Happening, { kind: (typeof KINDS)[number] }>): void {
  if (each.kind === 'started') {
    const { node, job, attempt, at } = each;
    const isCancelled = running.get(job)?.isCancelled ?? false;
    running.set(job, { node, job, attempt, since: at, isCancelled });
  } else if (each.kind === 'ended') running.delete(each.job);
  else if (each.kind === 'acknowledged' || each.kind === 'cancel_told') {
    const inHand = running.get(each.job);
    if (inHand === undefined) return;
    if (each.kind === 'cancel_told') inHand.isCancelled = true;
    else inHand.acknowledgedAt ??= each.at;
  }
}

/**
 * A lease ends by itself, and then the slot may be given away although the node still works: it did not say in time that it does.
 * One that it was told to cancel keeps its lease: it may be at work.
 */
function createLeaseJudge(faults: readonly Fault[], allowances: Allowances) {
  const { reservationMs, leaseMs, flightMs, letterMs, isExact } = allowances;
  const losses = lossesOf(faults, allowances);
  const cuts = hitsOf(faults, isOf('node_cut', 'node_frozen', 'network_bad'));
  const sleeps = hitsOf(faults, isOf('node_frozen'));

  /**
   * A lease is written before its job leaves, and again when that is acknowledged. An emptied store has lost the lease of a letter
   * that was on its way, too.
   */
  const hasLost = ({ since, acknowledgedAt = since }: InHand, at: number): boolean =>
    losses.some(
      (loss) =>
        isLost(loss, since, at, flightMs, loss.written.from === 0 ? letterMs : 0) ||
        isLost(loss, acknowledgedAt, at, flightMs),
    );

  return (inHand: InHand, { acknowledges }: Hands, at: number): Leaseless | undefined => {
    const { node, since, isCancelled } = inHand;
    if (hasLost(inHand, at)) return 'lost';
    // What a node finds when it wakes was sent at any time while it slept, and may have been given up since.
    const sleep = sleeps(node)?.find(since);
    const reservedAt = sleep?.from ?? since;
    if (at - reservedAt >= leaseMs) return 'its lease ended';
    if (at - reservedAt < reservationMs - flightMs) return undefined;
    // Of real nodes nobody knows whether they acknowledge: those that do, do so at once.
    const acknowledgedAt = inHand.acknowledgedAt ?? (acknowledges || isExact ? undefined : since);
    if (acknowledgedAt === undefined) return acknowledges ? 'unheard of' : undefined;
    // Whoever hears of it then takes the slot again, or has it cancelled.
    if (sleep !== undefined)
      return isCancelled || at - acknowledgedAt < reservationMs ? 'unheard of' : undefined;
    const isHeard =
      acknowledgedAt - since <= reservationMs - flightMs &&
      cuts(node)?.meets(since, acknowledgedAt + flightMs) !== true;
    return isHeard ? undefined : 'unheard of';
  };
}
