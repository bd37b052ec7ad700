/** The story of a violation: the few events that explain it, in the order of time. Pure. */
import type { HistoryEvent } from '../../../packages/simulation/dist/history.js';
import { familyOf, faultsOf } from './faults.ts';
import type { Invariant, Violation } from './violation.ts';

/** Of a session's deliveries, the last ones before. */
const DELIVERIES = 6;
/** Of an instance's events, the last ones before. */
const DOINGS = 4;
/** Invariants for which the story needs the jobs of the node. */
const IS_OF_HANDS: ReadonlySet<Invariant> = new Set(['I1 no oversell', 'I2 no leak']);
/** How long a fault has effects after its end. */
const SHOWS_MS = 15_000;

/** Which names appear in a history as what. */
interface Cast {
  readonly requests: Set<string>;
  readonly jobs: Set<string>;
  readonly nodes: Set<string>;
  readonly sessions: Set<string>;
  readonly others: Set<string>;
}

export function storyOf(history: readonly HistoryEvent[], violation: Violation): HistoryEvent[] {
  const cast = castOf(history, violation.about);
  const chosen = new Set<HistoryEvent>();
  for (const each of history) if (isAboutWork(each, cast)) chosen.add(each);
  if (IS_OF_HANDS.has(violation.invariant))
    for (const node of cast.nodes) for (const each of nodesOf(history, node, violation.at)) chosen.add(each);
  for (const session of cast.sessions)
    for (const each of lastOf(
      history,
      violation.at,
      DELIVERIES,
      (event) => event.kind === 'delivered' && event.session === session,
    ))
      chosen.add(each);
  for (const other of cast.others)
    for (const each of lastOf(history, violation.at, DOINGS, (event) => names(event, other)))
      chosen.add(each);
  const from = Math.min(violation.at, ...[...chosen].map(({ at }) => at));
  const seen = namesIn(chosen);
  for (const each of faultsBetween(history, from, violation.at, seen)) chosen.add(each);
  // A history is in order, and so is a selection from it.
  return history.filter((each) => chosen.has(each));
}

/** The history says what kind of thing each name is. */
function castOf(history: readonly HistoryEvent[], about: readonly string[]): Cast {
  const wanted = new Set(about);
  const cast: Cast = {
    requests: new Set(),
    jobs: new Set(),
    nodes: new Set(),
    sessions: new Set(),
    others: new Set(),
  };
  const known = new Set<string>();
  const note = (into: Set<string>, name: string | undefined): void => {
    if (name === undefined || !wanted.has(name)) return;
    into.add(name);
    known.add(name);
  };
  for (const each of history) {
    if ('request' in each) note(cast.requests, each.request);
    if ('job' in each) note(cast.jobs, each.job);
    if ('node' in each) note(cast.nodes, each.node);
    if ('session' in each) note(cast.sessions, each.session);
  }
  // A request and its jobs belong together.
  if (cast.requests.size + cast.jobs.size > 0) {
    for (const each of history) {
      if (each.kind !== 'accepted' && each.kind !== 'outcome') continue;
      if (!cast.requests.has(each.request) && (each.job === undefined || !cast.jobs.has(each.job))) continue;
      cast.requests.add(each.request);
      if (each.job !== undefined) cast.jobs.add(each.job);
    }
  }
  for (const name of about) if (!known.has(name)) cast.others.add(name);
  return cast;
}

const isAboutWork = (each: HistoryEvent, { requests, jobs }: Cast): boolean =>
  ('request' in each && each.request !== undefined && requests.has(each.request)) ||
  ('job' in each && each.job !== undefined && jobs.has(each.job));

/** When it started, and which jobs it had at that time. */
function nodesOf(history: readonly HistoryEvent[], node: string, at: number): HistoryEvent[] {
  let came: HistoryEvent | undefined;
  const running = new Map<string, HistoryEvent>();
  for (const each of history) {
    if (each.at > at) break;
    if (!('node' in each) || each.node !== node) continue;
    if (each.kind === 'node_up') {
      came = each;
      running.clear();
    } else if (each.kind === 'started' || each.kind === 'turned_away') running.set(each.job, each);
    else if (each.kind === 'ended' && each.at < at) running.delete(each.job);
  }
  return [...(came === undefined ? [] : [came]), ...running.values()];
}

function lastOf(
  history: readonly HistoryEvent[],
  at: number,
  most: number,
  isMeant: (event: HistoryEvent) => boolean,
): HistoryEvent[] {
  const last: HistoryEvent[] = [];
  for (const each of history) {
    if (each.at > at) break;
    if (!isMeant(each)) continue;
    last.push(each);
    if (last.length > most) last.shift();
  }
  return last;
}

const names = (event: HistoryEvent, name: string): boolean =>
  Object.values(event).some((value) => value === name);

function namesIn(chosen: ReadonlySet<HistoryEvent>): ReadonlySet<string> {
  const all = new Set<string>();
  for (const each of chosen)
    for (const value of Object.values(each))
      if (typeof value === 'string') all.add(value).add(familyOf(value));
  return all;
}

/** Faults with effects in that time, of the store, of instances and of the names involved, with ends and starts of instances. */
function faultsBetween(
  history: readonly HistoryEvent[],
  from: number,
  to: number,
  names: ReadonlySet<string>,
): HistoryEvent[] {
  const felt = new Set(
    faultsOf(history)
      .filter(({ beganAt, endedAt }) => beganAt <= to && endedAt + SHOWS_MS >= from)
      .filter(({ what, target }) => !/^(node|client)_/.test(what) || names.has(target))
      .map(({ number }) => number),
  );
  return history.filter(
    (each) =>
      ('fault' in each && felt.has(each.fault)) ||
      ((each.kind === 'instance_up' || each.kind === 'instance_down') &&
        from - SHOWS_MS <= each.at &&
        each.at <= to),
  );
}
