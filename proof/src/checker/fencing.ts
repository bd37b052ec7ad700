/**
 * I4: a delivered result was really made, for its request's words, by the attempt that had the right to; and no node works for a
 * settled job. Pure.
 */
import { type HistoryEvent, nameOf, ofKind, type Run } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { disturbsStore, hitsOf, isLost, isOf, lossesOf, spansOf, wasWritten } from './faults.ts';
import type { Spans } from './spans.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

type Outcome = Extract<HistoryEvent, { kind: 'outcome' }>;

const LATE_AFTER_FAILOVER = 'late results accepted after a failover';
/** By design an assignment expires after ack_timeout_ms, and every instance drops it then. */
const HELD_UP = 'assignments of settled jobs delayed by a disturbed store';
/**
 * The outcome was acknowledged and delivered, then lost by a master that died; its driver ended before it could write the outcome
 * again.
 */
const FORGOTTEN = 'settled jobs continued after a failover and their driver’s death';
/** Nor is it known then that an attempt was sent: the next one has the same number. */
const SENT_AGAIN = 'attempts repeated after a failover and their driver’s death';
const READ_LATE = 'assignments of settled jobs read late by a frozen or unreachable node';
/** By design an abandoned attempt may be resumed until its successor is recorded; then the successor is cancelled. */
const TAKEN_UP_AGAIN = 'results of attempts resumed while their successors were under way';
const CROSSED = 'late results accepted while their successors could not be recorded';

export function checkFencing({ history, faults, stories, seen }: Facts, allowances: Allowances): Finding {
  const losses = lossesOf(faults, allowances);
  const { flightMs, messageMs, crossingMs, deadlineMs } = allowances;
  const absences = hitsOf(faults, ({ what }) => what.startsWith('instance_'));
  const involved = instancesOf(history);
  const heldUp = spansOf(faults, disturbsStore, { after: flightMs });
  const disturbed = spansOf(faults, (fault) => disturbsStore(fault) || fault.what.startsWith('instance_'), {
    after: flightMs,
  });
  /** A frozen process reads messages when it wakes. */
  const hangs = hitsOf(faults, isOf('node_frozen', 'node_partitioned'));
  const violations: Violation[] = [];
  const counts = {
    [LATE_AFTER_FAILOVER]: 0,
    [CROSSED]: 0,
    [TAKEN_UP_AGAIN]: 0,
    [HELD_UP]: 0,
    [FORGOTTEN]: 0,
    [SENT_AGAIN]: 0,
    [READ_LATE]: 0,
  };
  const found = (at: number, message: string, about: readonly string[]): void => {
    violations.push({ invariant: 'I4 fencing', at, message, about });
  };

  function judgeResult({ result, request, job, at }: Outcome, said: string | undefined): void {
    if (result === undefined) return;
    const { by, words } = result;
    if (words !== said) found(at, `${request} contained "${said}" and got "${words}"`, [request]);
    if (by === undefined) {
      found(at, `${request} got a result that no node signed`, [request]);
      return;
    }
    const doneAt = seen.doneBy(by, at);
    const about = [request, by.job, by.node];
    if (doneAt === undefined)
      found(at, `${request} got the result of ${nameOf(by)} on ${by.node}, which never finished it`, about);
    else if (job !== undefined && job !== by.job)
      found(at, `${request} is ${job} and got the result of ${nameOf(by)}`, about);
    else {
      const successors = seen.successorsBefore(by, doneAt - crossingMs);
      const successor = successors.find((each) => !cameInVain(each, by, doneAt));
      if (successor === undefined) {
        if (successors.length > 0) counts[TAKEN_UP_AGAIN] += 1;
        return;
      }
      // The node has the job before the record has the attempt: between the two lies a write.
      const trouble = disturbed.lastBy(successor.at + flightMs);
      if (losses.some((loss) => isLost(loss, successor.at, doneAt, flightMs)))
        counts[LATE_AFTER_FAILOVER] += 1;
      else if (trouble !== undefined && trouble.to + crossingMs >= doneAt) counts[CROSSED] += 1;
      else
        found(
          at,
          `${request} got ${nameOf(by)} although ${nameOf(successor)} was with ${successor.node} before it was done`,
          about,
        );
    }
  }

  /**
   * Cancelled at its arrival, because its predecessor was acknowledged while the assignment was under way; not because the
   * predecessor had been acknowledged before, nor because it was done.
   */
  function cameInVain(successor: Run & { readonly at: number }, by: Run, doneAt: number): boolean {
    const calledOffAt = seen.calledOffAt(successor);
    if (calledOffAt === undefined || calledOffAt > successor.at + flightMs || calledOffAt >= doneAt)
      return false;
    return seen.wasAcknowledged(by, successor.at - messageMs, calledOffAt);
  }

  /** The driver that finds the remaining record ends the job within its deadline. */
  const isForgotten = (job: string, settledAt: number, at: number): boolean =>
    at <= settledAt + deadlineMs && isLostWithDriver(job, seen.settledSince(job) ?? settledAt, settledAt);

  /** What was written of it between the two. */
  const isLostWithDriver = (job: string, from: number, to: number): boolean =>
    losses.some(
      (loss) =>
        wasWritten(loss, from, to, flightMs) &&
        involved(job).some((instance) => absences(instance)?.meets(loss.beganAt, loss.to)),
    );

  let judged = 0;
  for (const { outcomes, words } of stories)
    for (const outcome of outcomes) {
      judged += 1;
      judgeResult(outcome, words);
    }
  for (const { node, job, attempt, at } of ofKind(history, 'assigned')) {
    const settledAt = seen.settledAt(job);
    if (settledAt === undefined || at <= settledAt + flightMs) continue;
    if (at <= settledAt + messageMs && heldUp.has(at)) {
      counts[HELD_UP] += 1;
      continue;
    }
    if (hangs(node)?.meets(at - flightMs, at)) {
      counts[READ_LATE] += 1;
      continue;
    }
    if (isForgotten(job, settledAt, at)) {
      counts[FORGOTTEN] += 1;
      continue;
    }
    found(
      at,
      `${node} got ${job}#${attempt}, whose outcome was delivered ${Math.round(at - settledAt)} ms before`,
      [job, node],
    );
  }
  const lastWords = checkLastWord(history).filter(({ about: [, job = ''] }) => {
    const settledAt = seen.settledAt(job);
    const isExcused = settledAt !== undefined && isForgotten(job, settledAt, settledAt);
    if (isExcused) counts[FORGOTTEN] += 1;
    return !isExcused;
  });
  const twice = checkOnceOnly(history, disturbed, messageMs + flightMs).filter(({ job, cameAt }) => {
    const isExcused = isLostWithDriver(job, cameAt, cameAt);
    if (isExcused) counts[SENT_AGAIN] += 1;
    return !isExcused;
  });
  return {
    violations: [...violations, ...lastWords, ...twice],
    counts: { 'late results': seen.lateResults(), ...counts },
    judged: { 'I4 fencing': judged },
  };
}

/**
 * The instances that may have driven a job: the one that accepted it, those that sent it to their own nodes, and those that sent it
 * to other holders.
 */
function instancesOf(history: readonly HistoryEvent[]): (job: string) => readonly string[] {
  const byJob = new Map<string, Set<string>>();
  for (const each of ofKind(history, 'accepted', 'assigned', 'message_sent')) {
    const { job } = each;
    const instance = each.kind === 'message_sent' ? each.from : each.instance;
    if (job === undefined || instance === undefined) continue;
    const known = byJob.get(job);
    if (known === undefined) byJob.set(job, new Set([instance]));
    else known.add(instance);
  }
  return (job) => [...(byJob.get(job) ?? [])];
}

/** A delivered outcome never changes: the record has the same at the end. */
function checkLastWord(history: readonly HistoryEvent[]): Violation[] {
  const delivered = new Map<string, Outcome>();
  for (const outcome of ofKind(history, 'outcome')) {
    const job = outcome.job ?? outcome.result?.by?.job;
    if (job !== undefined) delivered.set(job, outcome);
  }
  return ofKind(history, 'looked_up').flatMap((record): Violation[] => {
    const outcome = delivered.get(record.job);
    if (outcome === undefined || record.state === undefined) return [];
    const [first, last] = [outcome.result?.by, record.result?.by];
    // A session may have closed the gap before a job that succeeded later.
    if (isSame(first, last) || outcome.result === undefined) return [];
    return [
      {
        invariant: 'I4 fencing',
        at: record.at,
        message: `${outcome.request} got ${signature(first)}, and its record has ${signature(last)} at the end`,
        about: [outcome.request, record.job],
      },
    ];
  });
}

/**
 * A node does not receive an attempt again that it has ended; except for messages that were being handled when an instance died,
 * until they expire.
 */
interface CameAgain extends Violation {
  readonly job: string;
  /** When it first arrived. */
  readonly cameAt: number;
}

function checkOnceOnly(history: readonly HistoryEvent[], disturbed: Spans, expiryMs: number): CameAgain[] {
  const ended = new Map<string, Run & { readonly at: number }>();
  const first = new Map<string, number>();
  return ofKind(history, 'ended', 'assigned').flatMap((each): CameAgain[] => {
    if (each.kind === 'ended') {
      ended.set(each.job, each);
      return [];
    }
    const last = ended.get(each.job);
    const cameAt = first.get(nameOf(each)) ?? each.at;
    first.set(nameOf(each), cameAt);
    if (last?.node !== each.node || last.attempt !== each.attempt) return [];
    if (each.at <= cameAt + expiryMs && disturbed.meets(last.at, each.at)) return [];
    return [
      {
        invariant: 'I4 fencing',
        at: each.at,
        message: `${each.node} got ${nameOf(each)} again, which it had ended ${Math.round(each.at - last.at)} ms before`,
        about: [each.job, each.node],
        job: each.job,
        cameAt,
      },
    ];
  });
}

const isSame = (one: Run | undefined, other: Run | undefined): boolean =>
  one?.job === other?.job && one?.attempt === other?.attempt && one?.node === other?.node;

const signature = (run: Run | undefined): string =>
  run === undefined ? 'no result' : `${nameOf(run)} of ${run.node}`;
