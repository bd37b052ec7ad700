/**
 * I6: a try is answered as soon as the store and the network allow, whatever the cold path does meanwhile. Pure. From outside only
 * waiting can be judged. That no slice of cold work is longer than 5 ms follows from the structure: tests limit the number of items
 * of a slice, and none measures the 5 ms.
 */
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { brokenAround, hitsOf, isOf, spansOf } from './faults.ts';
import { createSpans, type Span } from './spans.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

export function checkHotPath({ history, faults }: Facts, allowances: Allowances): Finding {
  const { dispatchMs, isExact } = allowances;
  // Faults of nodes and of other clients do not count. Faults of other instances count: a driver that sent a job to a holder
  // that stopped answering must wait for its answer before it tries another node.
  const othersSilent = spansOf(faults, ({ what }) => what.startsWith('instance_'));
  const broken = brokenAround(faults, allowances, isOf('network_bad'));
  const cold = createSpans(coldWork(history));
  const waits = new Map<string, number>();
  for (const { client, request, waitMs } of ofKind(history, 'asked'))
    if (waitMs !== undefined) waits.set(`${client} ${request}`, waitMs);
  const violations: Violation[] = [];
  let [timed, duringCold, longest] = [0, 0, 0];

  for (const each of ofKind(history, 'accepted', 'refused')) {
    const { at, askedAt, client, request } = each;
    if (askedAt === undefined || broken(each.instance).meets(askedAt, at)) continue;
    const tookMs = at - askedAt;
    const waitMs = waits.get(`${client} ${request}`) ?? 0;
    // A client that allowed to wait may have waited for a busy node.
    const handedOverMs = othersSilent.meets(askedAt, at) ? allowances.messageMs : 0;
    if (tookMs > dispatchMs && tookMs <= dispatchMs + waitMs + handedOverMs) continue;
    timed += 1;
    longest = Math.max(longest, tookMs);
    const isCold = cold.meets(askedAt, at);
    if (isCold) duringCold += 1;
    if (tookMs <= dispatchMs) continue;
    violations.push({
      invariant: 'I6 hot path',
      at,
      message: `${request} of ${client} was ${each.kind} ${Math.round(tookMs)} ms after the request, without a fault${isCold ? ' during cold work' : ''}`,
      about: [request],
    });
  }
  // A client that was cut off receives nothing.
  const absences = hitsOf(faults, isOf('client_cut', 'client_partitioned'));
  for (const { at, askedAt, client, request } of isExact ? ofKind(history, 'unanswered') : []) {
    if (broken(undefined).meets(askedAt, at) || absences(client)?.meets(askedAt, at) === true) continue;
    timed += 1;
    violations.push({
      invariant: 'I6 hot path',
      at,
      message: `${request} of ${client} had no answer for ${Math.round(at - askedAt)} ms, without a fault`,
      about: [request],
    });
  }
  return {
    violations,
    counts: {
      'answers during cold work': duringCold,
      'longest answer without faults, ms': Math.round(longest),
    },
    judged: { 'I6 hot path': timed },
  };
}

/** Work of the same name does not overlap: work without an end is over when the next begins. */
function coldWork(history: readonly HistoryEvent[]): Span[] {
  const since = new Map<string, number>();
  const spans: Span[] = [];
  for (const { kind, what, at } of ofKind(history, 'cold_began', 'cold_ended')) {
    const from = since.get(what) ?? (kind === 'cold_ended' ? 0 : undefined);
    if (from !== undefined) spans.push({ from, to: at });
    if (kind === 'cold_began') since.set(what, at);
    else since.delete(what);
  }
  return [...spans, ...[...since.values()].map((from) => ({ from, to: Number.POSITIVE_INFINITY }))];
}
