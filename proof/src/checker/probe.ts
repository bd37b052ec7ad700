/**
 * I2: at rest every slot can be filled again. That no more than those can be filled is I1. Pure. A slot may be missing while a lease
 * lasts, but only where an observer from outside cannot know better either: see `excuseOf`.
 */
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { disturbsStore, familyOf, hitsOf, spansOf } from './faults.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

interface Filling {
  readonly slots: number;
  readonly since: number;
  readonly running: Set<string>;
  /** Jobs it was given and of which it has sent no final report, and when. */
  readonly open: Map<string, number>;
  /** It neither acknowledges jobs nor names them. */
  readonly isOfFewWords: boolean;
  failedAt: number;
  /** It has finished a job since the first probe began. */
  isProven: boolean;
  most: number;
  /** Slots that are rightly kept for jobs which never reach it. */
  kept: number;
  isExcused: boolean;
}

export function checkProbe(facts: Facts, allowances: Allowances): Finding {
  const { history, faults } = facts;
  const { leaseMs, recoverMs, isExact } = allowances;
  const nodes = new Map<string, Filling>();
  const hits = hitsOf(faults, ({ what }) => what.startsWith('node_'));
  // On real machines final reports may be lost with the instance that received them. So may those of a legacy node anywhere: it sends
  // them once, and never names the jobs it has.
  const losses = spansOf(faults, (fault) => disturbsStore(fault) || fault.what.startsWith('instance_'));
  const keptFor = keptSlots(facts, allowances);
  const violations: Violation[] = [];
  let probed: readonly string[] | undefined;
  let begunAt = 0;
  let [judged, excused, unfilled] = [0, 0, 0];

  /** The node was unreachable, or failed: its slots, or the node, may be out of use for a while. */
  function excuseOf(node: string, { since, open, failedAt, isOfFewWords }: Filling, at: number): boolean {
    const from = at - leaseMs;
    if (
      ((!isExact || isOfFewWords) && losses.meets(from, at)) ||
      since >= at - recoverMs ||
      failedAt >= from ||
      hits(node)?.meets(from, at) === true
    )
      return true;
    for (const openedAt of open.values()) if (openedAt >= from) return true;
    return false;
  }

  /**
   * A node that failed, or lacked a model, is given one job, and no other before that one is done, however long ago it failed: a
   * first probe finds it so. It has done that job when the next probe comes.
   */
  const isOnProbation = (node: string, { most, slots, failedAt, open, isProven }: Filling): boolean =>
    most === 1 && slots > 1 && !isProven && (failedAt > 0 || open.size >= EJECTS || hits(node) !== undefined);

  function begin(names: readonly string[], at: number): void {
    probed = names;
    begunAt = at;
    for (const [node, filling] of nodes) {
      // A job that still runs from before holds its slot rightly.
      filling.most = filling.running.size;
      filling.kept = keptFor(node, at);
      filling.isExcused = excuseOf(node, filling, at);
    }
  }

  function finish(at: number): void {
    for (const node of probed ?? []) {
      const filling = nodes.get(node) ?? ABSENT;
      const { most, slots, kept, isExcused, open } = filling;
      if (isExcused || (most < slots && slots <= most + kept) || isOnProbation(node, filling)) {
        excused += 1;
        continue;
      }
      judged += 1;
      if (most >= slots && slots > 0) continue;
      unfilled += Math.max(1, slots - most);
      violations.push({
        invariant: 'I2 no leak',
        at,
        message: `${node} has ${slots} slots, and only ${most} of them could be filled at rest`,
        // One of the jobs without a final report may hold the slot.
        about: [node, ...unanswered(open, begunAt)],
      });
    }
    probed = undefined;
  }

  for (const each of ofKind(history, ...KINDS)) {
    if (each.kind === 'probe_began') begin(each.nodes, each.at);
    else if (each.kind === 'probe_ended') finish(each.at);
    else if (each.kind === 'node_up') nodes.set(each.node, fillingOf(each));
    else if (each.kind === 'node_down') nodes.delete(each.node);
    else {
      const filling = nodes.get(each.node);
      if (filling !== undefined) fill(filling, each);
      if (filling !== undefined && each.kind === 'ended' && each.how === 'done' && begunAt > 0)
        filling.isProven = true;
    }
  }
  return {
    violations,
    counts: { 'slots that could not be filled again': unfilled, 'nodes not judged by a probe': excused },
    judged: { 'I2 no leak': judged },
  };
}

const KINDS = [
  'node_up',
  'node_down',
  'assigned',
  'started',
  'ended',
  'turned_away',
  'probe_began',
  'probe_ended',
] as const;

/** So few missing acknowledgements do not make a node suspect. */
const EJECTS = 3;

/** An instance that starts reads its waiting messages at once. */
const READ_MS = 50;

/**
 * For a node: how many jobs were sent to a holder that may have died before it read the message. Their outcome is unknown, and their
 * slots are kept until their reservations end.
 */
function keptSlots(
  { history, faults, uptimes: { downtimes } }: Facts,
  { reservationMs, messageMs, flightMs }: Allowances,
): (node: string, at: number) => number {
  const disturbed = spansOf(faults, disturbsStore);
  const arrived = new Set(ofKind(history, 'assigned').map(({ node, job }) => `${familyOf(node)} ${job}`));
  const sentAt = new Map<string, number[]>();
  for (const { node = '', job, to, at } of ofKind(history, 'message_sent')) {
    if (job === undefined || arrived.has(`${node} ${job}`)) continue;
    // A holder that comes back in time answers it.
    const silentUntil = downtimes.get(to)?.find(at + flightMs)?.to ?? 0;
    const isLost = silentUntil >= at + messageMs - READ_MS || disturbed.meets(at, at + messageMs);
    if (isLost) sentAt.set(node, [...(sentAt.get(node) ?? []), at]);
  }
  return (node, now) =>
    (sentAt.get(familyOf(node)) ?? []).filter((at) => now <= at + reservationMs + flightMs).length;
}

/** Of jobs that may hold a slot; the last ones. */
const MOST_OPEN = 6;
const unanswered = (open: ReadonlyMap<string, number>, before: number): string[] =>
  [...open].flatMap(([job, openedAt]) => (openedAt < before ? job : [])).slice(-MOST_OPEN);

const fillingOf = ({
  slots,
  at,
  acknowledges,
}: Pick<Extract<HistoryEvent, { kind: 'node_up' }>, 'slots' | 'at' | 'acknowledges'>): Filling => ({
  slots,
  since: at,
  isOfFewWords: acknowledges === false,
  running: new Set(),
  open: new Map(),
  failedAt: Number.NEGATIVE_INFINITY,
  isProven: false,
  most: 0,
  kept: 0,
  isExcused: false,
});

const ABSENT: Filling = fillingOf({ slots: 0, at: 0 });

function fill(
  filling: Filling,
  each: Extract<HistoryEvent, { kind: 'assigned' | 'started' | 'ended' | 'turned_away' }>,
): void {
  const { running, open } = filling;
  if (each.kind === 'assigned') open.set(each.job, each.at);
  else if (each.kind === 'started') {
    running.add(each.job);
    filling.most = Math.max(filling.most, running.size);
  } else {
    open.delete(each.job);
    if (each.kind === 'turned_away') return;
    running.delete(each.job);
    if (each.how === 'failed') filling.failedAt = each.at;
  }
}
