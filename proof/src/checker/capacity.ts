/** I1: no node ever has more jobs than slots, as the node itself counts. Pure. */
import { type HistoryEvent, nameOf, ofKind, type Run } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { disturbsStore, type Fault, hitsOf, isLost, isOf, type Loss, lossesOf, spansOf } from './faults.ts';
import type { RequestStory } from './request-stories.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

interface RunningJob extends Run {
  readonly since: number;
  /** Its slot was not reserved before. */
  readonly notBefore: number;
  /** The instance that sent it, where that is known. */
  readonly by: string | undefined;
  /** Undefined: the node has not acknowledged it. */
  acknowledgedAt?: number;
  isCancelled: boolean;
}

interface NodeLoad {
  readonly slots: number;
  readonly acknowledges: boolean;
  /** The instance that sent each job last, where that is known. */
  readonly broughtBy: Map<string, string | undefined>;
  /** By job; a node does not run the same job twice at a time. */
  readonly running: Map<string, RunningJob>;
}

/** Why a running job may have no lease. */
type Leaseless = 'its lease ended' | 'unacknowledged' | 'lost';

const EXCUSES: Readonly<Record<Leaseless, string>> = {
  'its lease ended': 'oversold beside jobs whose lease had ended',
  unacknowledged: 'oversold beside unacknowledged jobs',
  lost: 'oversold after a failover',
};

export function checkCapacity({ history, faults, stories }: Facts, allowances: Allowances): Finding {
  const { whyLeaseless, wasLost } = createLeaseJudge(history, faults, allowances);
  const nodes = new Map<string, NodeLoad>();
  /** When each job was last started on a node, or else requested: its current slot was reserved later. */
  const lastOf = askedTimes(stories);
  const notBefore = (job: string): number => lastOf.get(job) ?? Number.NEGATIVE_INFINITY;
  const violations: Violation[] = [];
  const counts: Record<string, number> = { oversold: 0 };
  for (const name of Object.values(EXCUSES)) counts[name] = 0;
  let most = 0;
  let judged = 0;

  function judge(load: NodeLoad, run: Run, at: number): void {
    judged += 1;
    const { slots, running } = load;
    // The new job counts as well, whether the node accepted it or not.
    if (running.size + (running.has(run.job) ? 0 : 1) <= slots) return;
    const others = [...running.values()].filter(({ job }) => job !== run.job);
    const reasons = others.map((each) => whyLeaseless(each, load, at, notBefore(each.job)));
    const by = load.broughtBy.get(run.job);
    if (wasLost({ ...run, since: at, by, notBefore: notBefore(run.job), isCancelled: false }))
      reasons.push('lost');
    const wanted = 1 + others.length - reasons.filter((why) => why !== undefined).length;
    if (wanted <= slots) {
      for (const why of new Set(reasons)) if (why !== undefined) count(EXCUSES[why]);
    } else {
      count('oversold');
      violations.push({
        invariant: 'I1 no oversell',
        at,
        message: `${run.node} has ${slots} slots and got ${nameOf(run)} while it had ${[...running.values()].map(nameOf).join(', ')}`,
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
      nodes.set(each.node, { slots, acknowledges, broughtBy: new Map(), running: new Map() });
      continue;
    }
    const load = nodes.get(each.node);
    if (load === undefined) continue;
    if (each.kind === 'assigned') {
      load.broughtBy.set(each.job, each.instance);
      continue;
    }
    if (each.kind === 'started' || each.kind === 'turned_away') judge(load, each, each.at);
    if (each.kind === 'started') {
      take(load, each, notBefore(each.job));
      lastOf.set(each.job, each.at);
    } else if (each.kind === 'node_down') nodes.delete(each.node);
    else handle(load, each);
    most = Math.max(most, load.running.size);
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
  'assigned',
  'started',
  'acknowledged',
  'ended',
  'turned_away',
  'cancel_received',
] as const;

const askedTimes = (stories: readonly RequestStory[]): Map<string, number> =>
  new Map(
    stories.flatMap(({ askedAt, jobs }) =>
      askedAt === undefined ? [] : [...jobs.keys()].map((job) => [job, askedAt] as const),
    ),
  );

type EventOf<Kind extends (typeof KINDS)[number]> = Extract<HistoryEvent, { kind: Kind }>;

function take(
  { running, broughtBy }: NodeLoad,
  { node, job, attempt, at }: EventOf<'started'>,
  notBefore: number,
): void {
  const isCancelled = running.get(job)?.isCancelled ?? false;
  running.set(job, { node, job, attempt, since: at, by: broughtBy.get(job), notBefore, isCancelled });
}

function handle(
  { running }: NodeLoad,
  each: EventOf<'ended' | 'acknowledged' | 'cancel_received' | 'turned_away'>,
): void {
  if (each.kind === 'ended') running.delete(each.job);
  else if (each.kind === 'acknowledged' || each.kind === 'cancel_received') {
    const runningJob = running.get(each.job);
    if (runningJob === undefined) return;
    if (each.kind === 'cancel_received') runningJob.isCancelled = true;
    else runningJob.acknowledgedAt ??= each.at;
  }
}

/**
 * A lease may end while the node still works, and then the slot may be taken by another job: the node did not acknowledge in time. A
 * job that the node was ordered to cancel keeps its lease: the node may still work on it.
 */
function createLeaseJudge(
  history: readonly HistoryEvent[],
  faults: readonly Fault[],
  allowances: Allowances,
) {
  const { reservationMs, abandonedMs, leaseMs, flightMs, messageMs, presenceMs, isExact } = allowances;
  const losses = lossesOf(faults, allowances);
  const cuts = hitsOf(faults, isOf('node_cut', 'node_frozen', 'node_partitioned', 'network_bad'));
  const sleeps = hitsOf(faults, isOf('node_frozen'));
  const partitions = hitsOf(faults, isOf('node_partitioned'));
  const delays = spansOf(
    faults,
    (fault) => disturbsStore(fault) || fault.what.startsWith('instance_') || fault.what === 'network_bad',
    { after: presenceMs },
  );

  const downs = ofKind(history, 'instance_down');

  /** A report to an instance that ends meanwhile is lost. */
  const isInVain = (by: string | undefined, from: number, to: number): boolean =>
    downs.some(({ instance, at }) => instance === by && from <= at && at <= to);

  /** The driver waits for the acknowledgement, then abandons the attempt and shortens its lease. */
  const unacknowledgedMs = messageMs + abandonedMs;
  /** The longest time between a reservation and the sending of its job: the reservation must outlive the wait for an acknowledgement. */
  const oldestMs = reservationMs - messageMs;
  /** A slot is reserved right before its job is sent, and the job arrives at once, unless a fault delays them. */
  const reservedAtLeast = ({ since, notBefore }: RunningJob, sentFrom = since): number =>
    delays.meets(sentFrom - oldestMs, sentFrom)
      ? Math.min(sentFrom, Math.max(notBefore, sentFrom - oldestMs))
      : sentFrom;

  const waysOf = (runningJob: RunningJob, { written }: Loss): number =>
    Math.max(runningJob.since - reservedAtLeast(runningJob), written.from === 0 ? messageMs : 0);

  /**
   * A lease is written before its job is sent, and again when the job is acknowledged. An emptied store has also lost the lease of a
   * message that was under way.
   */
  const hasLost = (runningJob: RunningJob, at: number): boolean => {
    const { since, acknowledgedAt = since } = runningJob;
    return losses.some(
      (loss) =>
        isLost(loss, since, at, flightMs, waysOf(runningJob, loss)) ||
        isLost(loss, acknowledgedAt, at, flightMs),
    );
  };

  /** `lastStartedAt`: on any node. */
  function whyLeaseless(
    runningJob: RunningJob,
    { acknowledges }: NodeLoad,
    at: number,
    lastStartedAt: number,
  ): Leaseless | undefined {
    const { node, since, by, isCancelled } = runningJob;
    if (hasLost(runningJob, at)) return 'lost';
    // A job that a node reads when it wakes, or can be reached again, may have been sent at any time before, and may have been
    // abandoned since.
    const sleep = sleeps(node)?.find(since);
    const absentSince = (sleep ?? partitions(node)?.find(since))?.from;
    const reservedAt = reservedAtLeast(runningJob, absentSince);
    if (at - reservedAt >= leaseMs) return 'its lease ended';
    // A node that receives nothing may still send heartbeats. They do not name the job, and so end the lease of an abandoned attempt.
    if (at - reservedAt < (absentSince === undefined ? unacknowledgedMs : reservationMs) - flightMs)
      return undefined;
    // In runs of real processes only SDK nodes record it. The others acknowledge at once, or never do and count as if they had.
    const acknowledgedAt = runningJob.acknowledgedAt ?? (acknowledges || isExact ? undefined : since);
    if (acknowledgedAt === undefined) return acknowledges ? 'unacknowledged' : undefined;
    // The job had a later attempt by then, so the acknowledgement changes nothing (I4).
    if (since < lastStartedAt && lastStartedAt < acknowledgedAt) return 'unacknowledged';
    // The driver that receives it takes a slot again, or cancels the job.
    if (sleep !== undefined)
      return isCancelled || at - acknowledgedAt < reservationMs ? 'unacknowledged' : undefined;
    const isAcknowledgementReceived =
      acknowledgedAt - since <= reservationMs - flightMs &&
      cuts(node)?.meets(since, acknowledgedAt + flightMs) !== true &&
      !isInVain(by, since, acknowledgedAt + flightMs);
    return isAcknowledgementReceived ? undefined : 'unacknowledged';
  }

  return {
    whyLeaseless,
    /** It arrives without a lease: the lease was lost after it was written, and before the job was sent. */
    wasLost: (runningJob: RunningJob): boolean =>
      losses.some((loss) =>
        isLost(loss, runningJob.since, runningJob.since, flightMs, waysOf(runningJob, loss)),
      ),
  };
}
