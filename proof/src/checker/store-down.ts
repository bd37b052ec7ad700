/**
 * I7: while the store is down, new work is refused, soon and with the right code, never accepted; and when it is back, the service
 * resumes. Pure.
 */
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { brokenAround, disturbsStore, type Fault, hitsOf, isOf, spansOf } from './faults.ts';
import { createSpans } from './spans.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

type Answer = Extract<HistoryEvent, { kind: 'accepted' | 'refused' | 'unanswered' }>;

const DEPENDENCY_DOWN = 'SCHEDULER_DEPENDENCY_DOWN';

export function checkStoreDown({ history, faults }: Facts, allowances: Allowances): Finding {
  const { noticeMs, isExact } = allowances;
  const outages = createSpans(
    faults
      .filter(isOf('store_down'))
      .map(({ beganAt, endedAt }) => ({ from: beganAt + noticeMs, to: endedAt }))
      .filter(({ from, to }) => from < to),
  );
  const isExcused = createExcuses(faults);
  // The instance may need another instance, which is known to be dead only after a while.
  const broken = brokenAround(faults, allowances)(undefined);
  const violations: Violation[] = [];
  const found = ({ at, request, client }: Answer, message: string): void => {
    violations.push({
      invariant: 'I7 fail closed',
      at,
      message: `${request} of ${client} ${message}`,
      about: [request],
    });
  };
  let [refused, unexpected, judged] = [0, 0, 0];
  const answers = ofKind(history, 'accepted', 'refused', 'unanswered');
  for (const each of answers) {
    const { askedAt, at } = each;
    if (askedAt === undefined) continue;
    if (isForWantOfStore(each) && !broken.meets(askedAt, at)) {
      unexpected += 1;
      if (isExact) found(each, 'was refused although the store was up');
    }
    // The whole try within one outage.
    if (!outages.has(at) || outages.lengthWithin(askedAt, at) < at - askedAt) continue;
    judged += 1;
    if (each.kind === 'refused') refused += 1;
    const message = complaint(each, isExcused(each));
    if (message !== undefined) found(each, message);
  }
  violations.push(...checkReturns(answers, faults, allowances));
  return {
    violations,
    counts: {
      'refused because the store was down': refused,
      'refused although the store was up': unexpected,
    },
    judged: { 'I7 fail closed': judged },
  };
}

/** Another fault explains the missing answer. */
function createExcuses(faults: readonly Fault[]): (answer: Answer) => boolean {
  const instances = spansOf(faults, ({ what }) => what.startsWith('instance_'));
  const weather = hitsOf(faults, isOf('network_bad', 'client_partitioned'));
  const beginnings = new Map<string, number[]>();
  for (const { target, beganAt } of faults.filter(isOf('client_cut')))
    beginnings.set(target, [...(beginnings.get(target) ?? []), beganAt]);
  return ({ client, askedAt, at }) =>
    instances.has(at) ||
    weather(client)?.meets(askedAt ?? at, at) === true ||
    (beginnings.get(client)?.some((beganAt) => beganAt >= (askedAt ?? at)) ?? false);
}

function complaint(each: Answer, isExcused: boolean): string | undefined {
  if (each.kind === 'accepted') return 'was accepted while the store was down';
  if (each.kind === 'unanswered')
    return isExcused ? undefined : `was not answered while the store was down: ${each.why}`;
  return each.code === DEPENDENCY_DOWN ? undefined : `was refused with ${each.code} while the store was down`;
}

/** How many tries after the store's return must all be refused before service counts as not resumed. */
const ENOUGH = 3;

/** Service resumes by itself: of the first tries after every outage some are accepted, or refused for another reason. */
function checkReturns(
  answers: readonly Answer[],
  faults: readonly Fault[],
  { recoverMs }: Allowances,
): Violation[] {
  const begins = faults.filter(disturbsStore).map(({ beganAt }) => beganAt);
  return faults.filter(isOf('store_down')).flatMap(({ endedAt }): Violation[] => {
    const from = endedAt + recoverMs;
    const to = Math.min(...begins.filter((beganAt) => beganAt > endedAt), Number.POSITIVE_INFINITY);
    const first = firstTries(answers, from, to);
    if (first.length < ENOUGH || !first.every(isForWantOfStore)) return [];
    return [
      {
        invariant: 'I7 fail closed',
        at: first.at(-1)?.at ?? from,
        message: `${ENOUGH} tries were refused although the store had been back for ${Math.round(recoverMs)} ms`,
        about: first.map(({ request }) => request),
      },
    ];
  });
}

const isForWantOfStore = (each: Answer): boolean => each.kind === 'refused' && each.code === DEPENDENCY_DOWN;

/** Answers are in the order of time. */
function firstTries(answers: readonly Answer[], from: number, to: number): Answer[] {
  let low = 0;
  for (let high = answers.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((answers[middle]?.at ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  const first: Answer[] = [];
  for (let at = low; at < answers.length && first.length < ENOUGH; at++) {
    const answer = answers[at];
    if (answer === undefined || answer.at > to) break;
    if (answer.kind !== 'unanswered' && (answer.askedAt ?? 0) >= from) first.push(answer);
  }
  return first;
}
