/**
 * I3: a finished result of the attempt that had the right to is delivered to its client, if no fault came between. Pure. A missing
 * result is an outcome, too: without this rule all outcomes could be missing results.
 */
import { type HistoryEvent, ofKind, type Run } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { disturbsStore, hitsOf, lossesOf, spansOf } from './faults.ts';
import type { RequestStory } from './request-stories.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

interface Work extends Run {
  readonly assignedAt: number;
  acknowledgedAt?: number;
  doneAt?: number;
}

export function checkResults({ history, faults, stories }: Facts, allowances: Allowances): Finding {
  const { deadlineMs, flightMs, messageMs } = allowances;
  const work = worksOf(history);
  const silent = new Set(
    ofKind(history, 'node_up').flatMap(({ node, acknowledges = false }) => (acknowledges ? [] : node)),
  );
  const losses = lossesOf(faults, allowances);
  const hurts = hitsOf(faults, ({ what }) => what.startsWith('node_') || what === 'network_bad');
  const broken = spansOf(faults, (fault) => disturbsStore(fault) || fault.what.startsWith('instance_'), {
    after: flightMs,
  });
  const violations: Violation[] = [];
  let [judged, thrownAway] = [0, 0];

  /** It was acknowledged in time, and its node and the instances that receive its reports had no fault until its end was received. */
  function isSure({ node, assignedAt, acknowledgedAt, doneAt = 0 }: Work): boolean {
    const isTaken =
      silent.has(node) ||
      (acknowledgedAt !== undefined && acknowledgedAt - assignedAt < messageMs - flightMs);
    const [from, to] = [assignedAt - flightMs, doneAt + flightMs];
    return (
      isTaken &&
      hurts(node)?.meets(from, to) !== true &&
      !broken.meets(from, to) &&
      !losses.some(({ written }) => written.from <= to && doneAt <= written.to)
    );
  }

  function judge({ client, request, jobs, acceptedAt, outcomes: [outcome], hasLeft }: RequestStory): void {
    if (outcome === undefined || hasLeft) return;
    for (const job of outcome.job === undefined ? jobs.keys() : [outcome.job]) {
      const last = work.get(job)?.at(-1);
      if (last?.doneAt === undefined || !isSure(last)) continue;
      const endsAt = Math.min(outcome.at, (acceptedAt ?? last.assignedAt) + deadlineMs);
      if (last.doneAt + flightMs > endsAt && outcome.result === undefined) continue;
      judged += 1;
      if (outcome.result !== undefined) continue;
      thrownAway += 1;
      violations.push({
        invariant: 'I3 one outcome',
        at: outcome.at,
        message: `${client} got "${outcome.missing}" for ${request}, which ${last.node} had done ${Math.round(outcome.at - last.doneAt)} ms before`,
        about: [request, job],
      });
    }
  }

  for (const story of stories) judge(story);
  return {
    violations,
    counts: { 'results discarded': thrownAway },
    judged: { 'I3 one outcome': judged },
  };
}

/** By job; the last attempt is the last to reach its node. */
function worksOf(history: readonly HistoryEvent[]): ReadonlyMap<string, readonly Work[]> {
  const works = new Map<string, Work[]>();
  const find = ({ node, job, attempt }: Run): Work | undefined =>
    works.get(job)?.find((each) => each.attempt === attempt && each.node === node);
  for (const each of ofKind(history, 'assigned', 'acknowledged', 'ended')) {
    const { node, job, attempt, at } = each;
    const known = find(each);
    if (each.kind === 'assigned') {
      if (known !== undefined) continue;
      const all = works.get(job);
      const work: Work = { node, job, attempt, assignedAt: at };
      if (all === undefined) works.set(job, [work]);
      else all.push(work);
    } else if (known === undefined) continue;
    else if (each.kind === 'acknowledged') known.acknowledgedAt ??= at;
    else if (each.how === 'done') known.doneAt ??= at;
  }
  return works;
}
