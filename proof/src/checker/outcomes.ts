/** I3 and "nothing lost": whatever was accepted has one outcome, in time; a request has one job, an attempt one node. Pure. */
import { type Happening, ofKind } from '../../../packages/scheduler/dist/simulation/history.js';
import { lifelessMs } from './faults.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

type Outcome = Extract<Happening, { kind: 'outcome' }>;
type LookedUp = Extract<Happening, { kind: 'looked_up' }>;

interface Story {
  readonly client: string;
  readonly request: string;
  readonly askedAt: number;
  acceptedAt?: number;
  readonly jobs: Set<string>;
  readonly outcomes: Outcome[];
  isAbandoned: boolean;
}

export function checkOutcomes(history: readonly Happening[], allowances: Allowances): Finding {
  const stories = [...storiesOf(history).values()];
  const endedAt = history.at(-1)?.at ?? 0;
  const records = new Map(ofKind(history, 'looked_up').map((each) => [each.job, each]));
  const violations = [
    ...stories.flatMap((story) => [
      ...checkNumber(story, endedAt),
      ...checkTime(story, history, allowances),
      ...checkJobs(story, records, endedAt),
    ]),
    ...checkAttempts(history),
    ...checkRecords(history, records, endedAt),
  ];
  const outcomes = stories.flatMap(({ outcomes: [first] }) => first ?? []);
  const doubled = violations.filter(({ says }) => says.includes('outcomes')).length;
  return {
    violations,
    counts: {
      requests: stories.length,
      accepted: stories.filter(({ acceptedAt }) => acceptedAt !== undefined).length,
      results: outcomes.filter(({ result }) => result !== undefined).length,
      'missing results': outcomes.filter(({ missing }) => missing !== undefined).length,
      'refused answers': ofKind(history, 'refused').length,
      'unanswered tries': ofKind(history, 'unanswered').length,
      'abandoned, never accepted': stories.filter(({ isAbandoned }) => isAbandoned).length,
      lost: violations.filter(({ invariant }) => invariant === 'nothing lost').length,
      doubled,
      retries: ofKind(history, 'assigned').filter(({ attempt }) => attempt > 1).length,
    },
  };
}

function storiesOf(history: readonly Happening[]): Map<string, Story> {
  const stories = new Map<string, Story>();
  for (const each of ofKind(history, 'asked', 'accepted', 'outcome', 'abandoned')) {
    const story = stories.get(each.request) ?? {
      client: each.client,
      request: each.request,
      askedAt: each.at,
      jobs: new Set<string>(),
      outcomes: [],
      isAbandoned: false,
    };
    stories.set(each.request, story);
    if (each.kind === 'accepted') {
      story.acceptedAt ??= each.at;
      story.jobs.add(each.job);
    } else if (each.kind === 'outcome') story.outcomes.push(each);
    else if (each.kind === 'abandoned') story.isAbandoned = true;
  }
  return stories;
}

function checkNumber(
  { client, request, acceptedAt, jobs, outcomes, isAbandoned }: Story,
  endedAt: number,
): Violation[] {
  const about = [request, ...jobs];
  if (outcomes.length > 1)
    return [
      {
        invariant: 'I3 one outcome',
        at: outcomes[1]?.at ?? 0,
        says: `${client} got ${outcomes.length} outcomes of ${request}`,
        about,
      },
    ];
  if (outcomes.length === 1 || (isAbandoned && acceptedAt === undefined)) return [];
  const what =
    acceptedAt === undefined ? 'was given up by nobody' : `was accepted at ${Math.round(acceptedAt)} ms`;
  return [
    {
      invariant: 'nothing lost',
      at: acceptedAt ?? endedAt,
      says: `${request} of ${client} ${what} and has no outcome`,
      about,
    },
  ];
}

function checkTime(
  { client, request, acceptedAt, jobs, outcomes }: Story,
  history: readonly Happening[],
  { deadlineMs, graceMs }: Allowances,
): Violation[] {
  const outcome = outcomes[0];
  if (acceptedAt === undefined || outcome === undefined) return [];
  const tookMs = outcome.at - acceptedAt;
  if (tookMs <= deadlineMs + graceMs) return [];
  if (tookMs - lifelessMs(history, { from: acceptedAt, to: outcome.at }) <= deadlineMs + graceMs) return [];
  return [
    {
      invariant: 'I3 one outcome',
      at: outcome.at,
      says: `${request} of ${client} had its outcome ${Math.round(tookMs)} ms after it was accepted`,
      about: [request, ...jobs],
    },
  ];
}

/** A request may have a second job only because the first one failed. */
function checkJobs(
  { request, jobs }: Story,
  records: ReadonlyMap<string, LookedUp>,
  endedAt: number,
): Violation[] {
  const lasting = [...jobs].filter((job) => !hasFailed(records.get(job)));
  if (jobs.size < 2 || lasting.length < 2) return [];
  return [
    {
      invariant: 'I3 one outcome',
      at: endedAt,
      says: `${request} has ${lasting.length} jobs that did not fail: ${lasting.join(', ')}`,
      about: [request, ...lasting],
    },
  ];
}

const hasFailed = (record: LookedUp | undefined): boolean =>
  record !== undefined && record.result === undefined && isSettled(record);

const isSettled = ({ state }: LookedUp): boolean =>
  state === 'FINISHED' || state === 'FAILED' || state === 'RELEASED';

function checkAttempts(history: readonly Happening[]): Violation[] {
  const nodeOf = new Map<string, string>();
  const violations: Violation[] = [];
  for (const { node, job, attempt, at } of ofKind(history, 'assigned')) {
    const name = `${job}#${attempt}`;
    const other = nodeOf.get(name) ?? node;
    nodeOf.set(name, other);
    if (other === node) continue;
    violations.push({
      invariant: 'I3 one outcome',
      at,
      says: `${name} went to ${other} and to ${node}`,
      about: [job, node, other],
    });
  }
  return violations;
}

/** Every job that a node ever saw has come to an end; so says its record, if it is still kept. */
function checkRecords(
  history: readonly Happening[],
  records: ReadonlyMap<string, LookedUp>,
  endedAt: number,
): Violation[] {
  const seen = new Set(ofKind(history, 'assigned').map(({ job }) => job));
  return [...seen].flatMap((job): Violation[] => {
    const record = records.get(job);
    if (record?.state === undefined || isSettled(record)) return [];
    return [
      {
        invariant: 'I3 one outcome',
        at: endedAt,
        says: `${job} is still ${record.state} when everything is quiet`,
        about: [job],
      },
    ];
  });
}
