/** I3 and "nothing lost": every accepted request has one outcome, in time; a request has one job, an attempt one node. Pure. */
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { hitsOf, isOf, lossesOf, spansOf } from './faults.ts';
import type { RequestStory } from './request-stories.ts';
import { createSpans } from './spans.ts';
import type { Allowances, Finding, Invariant, Violation } from './violation.ts';

type LookedUp = Extract<HistoryEvent, { kind: 'looked_up' }>;
type Assigned = Extract<HistoryEvent, { kind: 'assigned' }>;

const SECOND_JOBS = 'second jobs after a failover';
const SECOND_NODES = 'attempts that went to two nodes after a failover';

export function checkOutcomes({ history, faults, uptimes, stories }: Facts, allowances: Allowances): Finding {
  const endedAt = history.at(-1)?.at ?? 0;
  const records = new Map(ofKind(history, 'looked_up').map((each) => [each.job, each]));
  const absences = hitsOf(faults, isOf('client_cut', 'client_partitioned'));
  const losing = lossesOf(faults, allowances);
  const losses = createSpans(losing);
  const gone = spansOf(faults, ({ what }) => what.startsWith('instance_'));
  const violations: Violation[] = [];
  const found = (invariant: Invariant, at: number, message: string, about: readonly string[]): void => {
    violations.push({ invariant, at, message, about });
  };
  const counts = { doubled: 0, [SECOND_JOBS]: 0 };
  const assigned = ofKind(history, 'assigned');
  const reached = new Set(assigned.map(({ job }) => job));
  /** A job id that no node saw and that has no record is no job: it was withdrawn before it was sent. */
  const hasLived = (job: string): boolean => reached.has(job) || records.get(job)?.state !== undefined;

  function checkNumber({ client, request, acceptedAt, jobs, outcomes, isAbandoned, hasLeft }: RequestStory) {
    const about = [request, ...jobs.keys()];
    if (outcomes.length > 1) {
      counts.doubled += 1;
      found(
        'I3 one outcome',
        outcomes[1]?.at ?? 0,
        `${client} got ${outcomes.length} outcomes of ${request}`,
        about,
      );
    }
    if (outcomes.length > 0 || hasLeft || (isAbandoned && acceptedAt === undefined)) return;
    const what =
      acceptedAt === undefined ? 'was never abandoned' : `was accepted at ${Math.round(acceptedAt)} ms`;
    found('nothing lost', acceptedAt ?? endedAt, `${request} of ${client} ${what} and has no outcome`, about);
  }

  function checkTime({ client, request, acceptedAt, jobs, outcomes }: RequestStory): void {
    const outcome = outcomes[0];
    if (acceptedAt === undefined || outcome === undefined) return;
    const longestMs = allowances.deadlineMs + allowances.graceMs;
    const tookMs = outcome.at - acceptedAt;
    if (tookMs <= longestMs) return;
    const allDownMs = uptimes.allDown.lengthWithin(acceptedAt, outcome.at);
    const absentMs = absences(client)?.lengthWithin(acceptedAt, outcome.at) ?? 0;
    if (tookMs - allDownMs - absentMs <= longestMs) return;
    found(
      'I3 one outcome',
      outcome.at,
      `${request} of ${client} had its outcome ${Math.round(tookMs)} ms after it was accepted`,
      [request, ...jobs.keys()],
    );
  }

  /** A request may have a second job only because the first one failed, or because a failover lost the first. */
  function checkJobs({ request, jobs, outcomes }: RequestStory): void {
    if (jobs.size < 2) return;
    const delivered = new Set(
      outcomes.flatMap(({ job, missing }) => (missing === undefined ? [] : (job ?? []))),
    );
    const lasting = [...jobs].filter(
      ([job]) => !delivered.has(job) && hasLived(job) && !hasFailed(records.get(job)),
    );
    if (lasting.length < 2) return;
    const earlier = lasting.sort(([, one], [, other]) => one - other).slice(0, -1);
    if (earlier.every(([, acceptedAt]) => losses.meets(acceptedAt - allowances.flightMs, acceptedAt))) {
      counts[SECOND_JOBS] += 1;
      return;
    }
    const names = lasting.map(([job]) => job);
    found(
      'I3 one outcome',
      endedAt,
      `${request} has ${names.length} jobs that did not fail: ${names.join(', ')}`,
      [request, ...names],
    );
  }

  function isForgotten({ at }: Assigned): boolean {
    const { flightMs } = allowances;
    return losing.some(
      ({ written, to }) =>
        written.from - flightMs <= at && at <= written.to + flightMs && gone.meets(at - flightMs, to),
    );
  }

  for (const story of stories) {
    checkNumber(story);
    checkTime(story);
    checkJobs(story);
  }
  const { seen, forgotten } = checkAttempts(assigned, isForgotten, found);
  checkRecords(seen, records, endedAt, found);

  const first = stories.flatMap(({ outcomes: [outcome] }) => outcome ?? []);
  return {
    violations,
    counts: {
      requests: stories.length,
      accepted: stories.filter(({ acceptedAt }) => acceptedAt !== undefined).length,
      results: first.filter(({ result }) => result !== undefined).length,
      'missing results': first.filter(({ missing }) => missing !== undefined).length,
      'refused answers': ofKind(history, 'refused').length,
      'unanswered tries': ofKind(history, 'unanswered').length,
      'abandoned, never accepted': stories.filter(({ isAbandoned }) => isAbandoned).length,
      lost: violations.filter(({ invariant }) => invariant === 'nothing lost').length,
      ...counts,
      [SECOND_NODES]: forgotten,
      retries: assigned.filter(({ attempt }) => attempt > 1).length,
      'records at the end': [...records.values()].filter(({ state }) => state !== undefined).length,
    },
    judged: { 'I3 one outcome': stories.length, 'nothing lost': stories.length },
  };
}

type Found = (invariant: Invariant, at: number, message: string, about: readonly string[]) => void;

const hasFailed = (record: LookedUp | undefined): boolean =>
  record !== undefined && record.result === undefined && isSettled(record);

const isSettled = ({ state }: LookedUp): boolean =>
  state === 'FINISHED' || state === 'FAILED' || state === 'RELEASED';

/** Returns the jobs that nodes saw. An attempt goes to one node, unless a failover lost it together with the driver that knew it. */
function checkAttempts(
  assigned: readonly Assigned[],
  isForgotten: (first: Assigned) => boolean,
  found: Found,
): { readonly seen: ReadonlySet<string>; readonly forgotten: number } {
  const jobs = new Map<string, Map<number, Assigned>>();
  let forgotten = 0;
  for (const each of assigned) {
    const { node, job, attempt, at } = each;
    let firsts = jobs.get(job);
    if (firsts === undefined) {
      firsts = new Map();
      jobs.set(job, firsts);
    }
    const first = firsts.get(attempt);
    if (first === undefined) firsts.set(attempt, each);
    else if (first.node === node) continue;
    else if (isForgotten(first)) forgotten += 1;
    else {
      const about = [job, node, first.node];
      found('I3 one outcome', at, `${job}#${attempt} went to ${first.node} and to ${node}`, about);
    }
  }
  return { seen: new Set(jobs.keys()), forgotten };
}

/** Every job that a node saw has ended; its record says so, if it is still kept. */
function checkRecords(
  seen: ReadonlySet<string>,
  records: ReadonlyMap<string, LookedUp>,
  endedAt: number,
  found: Found,
): void {
  for (const record of records.values()) {
    if (!seen.has(record.job) || record.state === undefined || isSettled(record)) continue;
    found('I3 one outcome', endedAt, `${record.job} is still ${record.state} at rest`, [record.job]);
  }
}
