/** What nodes saw, by job: which nodes had it, when, and which finished it. Pure. */
import { type HistoryEvent, ofKind, type Run } from '../../../packages/simulation/dist/history.js';
import { familyOf } from './faults.ts';

type Assigned = Extract<HistoryEvent, { kind: 'assigned' }>;

interface Done extends Run {
  /** The last time. */
  at: number;
  /** Sent again under its number, it may be done again: a failover may have lost that it was sent. */
  readonly times: number[];
  isTaken: boolean;
}

interface JobSightings {
  readonly assigned: Assigned[];
  readonly done: Done[];
  readonly acknowledged: (Run & { readonly at: number })[];
  readonly calledOff: { readonly node: string; readonly at: number }[];
  /** By the names of their nodes, not of the processes. */
  readonly hedges: Run[];
  /** When its outcome was first delivered. */
  settledAt: number | undefined;
}

export interface Sightings {
  settledAt(job: string): number | undefined;
  /** Since when there was an outcome to deliver: when a node had last done it before. For a job that was never done, the same time. */
  settledSince(job: string): number | undefined;
  /** The last time that its node finished it. */
  doneAt(run: Run): number | undefined;
  /** The last time until then. */
  doneBy(run: Run, then: number): number | undefined;
  /** It was sent beside an earlier attempt, which counted on. */
  isHedge(run: Run): boolean;
  /** Later attempts that reached their nodes before then, hedges excluded. */
  successorsBefore(run: Run, at: number): readonly (Run & { readonly at: number })[];
  /** Whether its node acknowledged it between the two, for the first time or again. */
  wasAcknowledged(run: Run, from: number, to: number): boolean;
  /** When its node first received a cancel, after the job had arrived there. */
  calledOffAt(run: Run & { readonly at: number }): number | undefined;
  /** Finished, but another result was accepted, or none. */
  lateResults(): number;
}

export function createSightings(history: readonly HistoryEvent[]): Sightings {
  const jobs = new Map<string, JobSightings>();

  function of(job: string): JobSightings {
    let seen = jobs.get(job);
    if (seen === undefined) {
      seen = { assigned: [], done: [], acknowledged: [], calledOff: [], hedges: [], settledAt: undefined };
      jobs.set(job, seen);
    }
    return seen;
  }
  /** Attempts are few: a linear search costs less than a name for each. */
  const find = ({ node, job, attempt }: Run): Done | undefined =>
    jobs.get(job)?.done.find((each) => each.attempt === attempt && each.node === node);

  const isHedge = ({ node, job, attempt }: Run): boolean =>
    jobs.get(job)?.hedges.some((each) => each.attempt === attempt && each.node === familyOf(node)) ?? false;

  const taken: Run[] = [];
  for (const each of ofKind(history, ...KINDS)) {
    if (each.kind === 'assigned') of(each.job).assigned.push(each);
    else if (each.kind === 'hedged') of(each.job).hedges.push(each);
    else if (each.kind === 'acknowledged') of(each.job).acknowledged.push(each);
    else if (each.kind === 'cancel_received') of(each.job).calledOff.push(each);
    else if (each.kind === 'ended' || each.kind === 'told') {
      // The told texts are those of the result.
      if (each.kind === 'ended' && each.how !== 'done') continue;
      const before = find(each);
      if (before !== undefined) {
        before.at = each.at;
        before.times.push(each.at);
      } else {
        const { node, job, attempt, at } = each;
        of(job).done.push({ node, job, attempt, at, times: [at], isTaken: false });
      }
    } else {
      const by = each.result?.by;
      const job = each.job ?? by?.job;
      if (job !== undefined) of(job).settledAt ??= each.at;
      if (by !== undefined) taken.push(by);
    }
  }
  for (const run of taken) {
    const done = find(run);
    if (done !== undefined) done.isTaken = true;
  }
  return {
    settledAt: (job) => jobs.get(job)?.settledAt,
    settledSince(job) {
      const { done = [], settledAt } = jobs.get(job) ?? {};
      return done.findLast(({ at }) => settledAt !== undefined && at <= settledAt)?.at ?? settledAt;
    },
    doneAt: (run) => find(run)?.at,
    doneBy: (run, then) => find(run)?.times.findLast((at) => at <= then),
    isHedge,
    successorsBefore: ({ job, attempt }, at) =>
      jobs.get(job)?.assigned.filter((each) => each.attempt > attempt && each.at < at && !isHedge(each)) ??
      [],
    wasAcknowledged: ({ node, job, attempt }, from, to) =>
      jobs
        .get(job)
        ?.acknowledged.some(
          (each) => each.attempt === attempt && each.node === node && from <= each.at && each.at <= to,
        ) ?? false,
    calledOffAt: ({ node, job, at }) =>
      jobs.get(job)?.calledOff.find((each) => each.node === node && each.at >= at)?.at,
    lateResults() {
      let late = 0;
      for (const { done } of jobs.values()) for (const { isTaken } of done) if (!isTaken) late += 1;
      return late;
    },
  };
}

const KINDS = ['told', 'ended', 'assigned', 'acknowledged', 'cancel_received', 'hedged', 'outcome'] as const;
