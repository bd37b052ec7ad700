/** I4: what a client is told was really done, for its words, by the attempt that had the right to; and nobody works for the settled. Pure. */
import {
  type Happening,
  nameOf,
  ofKind,
  type Run,
} from '../../../packages/scheduler/dist/simulation/history.js';
import { covers, lossWindows } from './faults.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

type Outcome = Extract<Happening, { kind: 'outcome' }>;

/** A result and the next attempt may cross; beyond this the result was late. */
const CROSSING_MS = 2_000;

export function checkFencing(history: readonly Happening[], allowances: Allowances): Finding {
  const seen = createSightings(history);
  const losses = lossWindows(history, allowances.failoverMs);
  const violations: Violation[] = [];
  const found = (at: number, says: string, about: readonly string[]): void => {
    violations.push({ invariant: 'I4 fencing', at, says, about });
  };

  for (const outcome of ofKind(history, 'outcome')) {
    const { result, request, at } = outcome;
    if (result === undefined) continue;
    const { by, words } = result;
    if (words !== seen.words.get(request))
      found(at, `${request} said "${seen.words.get(request)}" and was told "${words}"`, [request]);
    if (by === undefined) {
      found(at, `${request} got a result that no node signed`, [request]);
      continue;
    }
    const doneAt = seen.doneAt(by);
    const about = [request, by.job, by.node];
    if (doneAt === undefined || doneAt > at)
      found(at, `${request} got the result of ${nameOf(by)} on ${by.node}, which never did it`, about);
    else if (outcome.job !== undefined && outcome.job !== by.job)
      found(at, `${request} is ${outcome.job} and got the result of ${nameOf(by)}`, about);
    else {
      const successor = seen.successorBefore(by, doneAt - CROSSING_MS);
      if (successor !== undefined && !losses.some((loss) => covers(loss, doneAt)))
        found(
          at,
          `${request} got ${nameOf(by)} although ${nameOf(successor)} was with ${successor.node} before it was done`,
          about,
        );
    }
  }
  for (const { node, job, attempt, at } of ofKind(history, 'assigned')) {
    const settledAt = seen.settledAt.get(job);
    const isHeldUp = losses.some((loss) => loss.beganAt <= at && at - loss.beganAt <= allowances.letterMs);
    const onItsWayMs = isHeldUp ? allowances.letterMs : allowances.flightMs;
    if (settledAt !== undefined && at > settledAt + onItsWayMs)
      found(
        at,
        `${node} got ${job}#${attempt}, whose outcome was told ${Math.round(at - settledAt)} ms before`,
        [job, node],
      );
  }
  return {
    violations: [...violations, ...checkLastWord(history)],
    counts: { 'late results': seen.lateResults() },
  };
}

/** What was told once stays so: the record says the same at the end. */
function checkLastWord(history: readonly Happening[]): Violation[] {
  const told = new Map<string, Outcome>();
  for (const outcome of ofKind(history, 'outcome')) {
    const job = outcome.job ?? outcome.result?.by?.job;
    if (job !== undefined) told.set(job, outcome);
  }
  return ofKind(history, 'looked_up').flatMap((record): Violation[] => {
    const outcome = told.get(record.job);
    if (outcome === undefined || record.state === undefined) return [];
    const [first, last] = [signature(outcome.result?.by), signature(record.result?.by)];
    // A session may have closed the gap over a job that ended well later.
    if (first === last || outcome.result === undefined) return [];
    return [
      {
        invariant: 'I4 fencing',
        at: record.at,
        says: `${outcome.request} was told ${first}, and its record says ${last} at the end`,
        about: [outcome.request, record.job],
      },
    ];
  });
}

const signature = (run: Run | undefined): string =>
  run === undefined ? 'no result' : `${nameOf(run)} of ${run.node}`;

function createSightings(history: readonly Happening[]) {
  const words = new Map(ofKind(history, 'asked').map((each) => [each.request, each.words]));
  const done = new Map<string, number>();
  const assigned = new Map<string, Extract<Happening, { kind: 'assigned' }>[]>();
  const settledAt = new Map<string, number>();
  const winners = new Set<string>();
  const keyOf = (run: Run): string => `${run.node} ${nameOf(run)}`;
  for (const each of ofKind(history, 'ended', 'assigned', 'outcome')) {
    if (each.kind === 'ended') {
      if (each.how === 'done') done.set(keyOf(each), each.at);
    } else if (each.kind === 'assigned') {
      assigned.set(each.job, [...(assigned.get(each.job) ?? []), each]);
    } else {
      const job = each.job ?? each.result?.by?.job;
      if (job !== undefined && !settledAt.has(job)) settledAt.set(job, each.at);
      if (each.result?.by !== undefined) winners.add(keyOf(each.result.by));
    }
  }
  return {
    words,
    settledAt,
    doneAt: (run: Run): number | undefined => done.get(keyOf(run)),
    successorBefore: (run: Run, at: number) =>
      assigned.get(run.job)?.find((each) => each.attempt > run.attempt && each.at < at),
    /** Done, but another one's result was taken, or none. */
    lateResults: (): number => [...done.keys()].filter((key) => !winners.has(key)).length,
  };
}
