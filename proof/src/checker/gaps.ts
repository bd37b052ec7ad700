/**
 * I5: a finished translation is delivered soon, at the latest when the gap before it is closed. Pure. Judged for sessions only:
 * other clients poll when they like.
 */
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { disturbsStore, type Fault, hitsOf, isOf, spansOf } from './faults.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

type Outcome = Extract<HistoryEvent, { kind: 'outcome' }>;

/** The instance of a client, since when, and its instance before. */
interface Place {
  readonly instance: string;
  readonly since: number;
  readonly before: string | undefined;
}

export function checkGaps(
  { history, faults, uptimes, stories, seen }: Facts,
  { gapMs, graceMs, recoverMs, isExact }: Allowances,
): Finding {
  const speakers = new Set(ofKind(history, 'delivered').map(({ client }) => client));
  const places = placesOf(history, speakers);
  const absences = hitsOf(faults, isOf('client_cut', 'client_partitioned'));
  const hurts = hitsOf(faults, isOfInstances);
  // On real machines the instance of a client is unknown, and a change of instance takes a while.
  const unwell = isExact ? spansOf(faults, isOfStore) : spansOf(faults, holdsUpWords, { after: recoverMs });
  const violations: Violation[] = [];
  let [judged, longest] = [0, 0];

  /** An instance that takes a session over waits for the gap again. There must have been a recent reason for the change. */
  function movedAt(client: string, { since, before }: Place): number {
    if (before === undefined) return 0;
    const causes = [hurts(before), absences(client), unwell];
    return Math.min(since, Math.max(...causes.map((spans) => spans?.lastBy(since)?.to ?? NEVER)) + recoverMs);
  }

  for (const { client, request, outcomes } of stories) {
    const delivered = outcomes[0];
    const by = delivered?.result?.by;
    const doneAt = by && seen.doneAt(by);
    if (doneAt === undefined || delivered === undefined || !speakers.has(client)) continue;
    const place = places.get(delivered);
    const from = Math.max(doneAt, place === undefined ? 0 : movedAt(client, place));
    const heldUpMs = [uptimes.allDown, unwell, place && hurts(place.instance)].map(
      (spans) => spans?.lengthWithin(from, delivered.at) ?? 0,
    );
    const waitedMs =
      delivered.at - from - Math.max(...heldUpMs) - (absences(client)?.lengthWithin(from, delivered.at) ?? 0);
    judged += 1;
    longest = Math.max(longest, waitedMs);
    if (waitedMs <= gapMs + graceMs) continue;
    violations.push({
      invariant: 'I5 order',
      at: delivered.at,
      message: `${client} got the outcome of ${request} ${Math.round(waitedMs)} ms after it was done; a gap before it may last ${gapMs} ms`,
      about: [request, client],
    });
  }
  return {
    violations,
    counts: { 'longest from done to delivered, ms': Math.round(longest) },
    judged: { 'I5 order': judged },
  };
}

/** The instance of each client when an outcome was delivered, as far as the client knew it. */
function placesOf(
  history: readonly HistoryEvent[],
  speakers: ReadonlySet<string>,
): ReadonlyMap<Outcome, Place> {
  const now = new Map<string, Place>();
  const then = new Map<Outcome, Place>();
  for (const each of ofKind(history, 'accepted', 'delivered', 'outcome')) {
    if (!speakers.has(each.client)) continue;
    const place = now.get(each.client);
    if (each.kind === 'outcome') {
      if (place !== undefined) then.set(each, place);
    } else if (each.instance !== undefined && each.instance !== place?.instance)
      now.set(each.client, { instance: each.instance, since: each.at, before: place?.instance });
  }
  return then;
}

const NEVER = Number.NEGATIVE_INFINITY;
const isOfInstances = isOf('instance_killed', 'instance_frozen', 'instance_restarted', 'instance_cut_off');
const isOfStore = (fault: Fault): boolean => disturbsStore(fault) && !isOfInstances(fault);
const holdsUpWords = (fault: Fault): boolean => disturbsStore(fault) || isOfInstances(fault);
