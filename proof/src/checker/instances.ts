/**
 * I9 and, as far as servers report it, I8: dead and frozen instances do nothing and are sent no messages; no instance ends by
 * itself. Pure.
 */
import { ofKind } from '../../../packages/simulation/dist/history.js';
import type { Facts } from './facts.ts';
import { disturbsStore, hitsOf, isOf, spansOf } from './faults.ts';
import type { Spans } from './spans.ts';
import type { Allowances, Finding, Invariant, Violation } from './violation.ts';

/** The log lines of an instance, with the clock of the history. */
export interface LogLine {
  readonly instance: string;
  readonly at: number;
  readonly level: number;
  readonly text: string;
}

/** What is known of a run besides its history. */
export interface InsideView {
  readonly logs?: readonly LogLine[] | undefined;
  /** How many scripts the servers reported. Absent: no server was watched. */
  readonly scripts?: number | undefined;
}

/** I9: how old the list of living instances may be. */
const LOOKED_WITHIN_MS = 1_000;
const SLOT_ERRORS = /CROSSSLOT|non local key|undeclared key|Lua script attempted/i;
const ERROR = 50;

export function checkInstances(
  { history, faults, uptimes: { downtimes } }: Facts,
  { logs = [], scripts = 0 }: InsideView,
  { answerMs, flightMs, presenceMs }: Allowances,
): Finding {
  /** An instance that reaches nothing of the store must consider itself dead when its presence has ended. */
  const cutOff = hitsOf(faults, isOf('instance_cut_off'));
  const asleep = hitsOf(faults, isOf('node_frozen', 'node_partitioned'));
  const partitioned = hitsOf(faults, isOf('client_partitioned'));
  const disturbed = spansOf(faults, disturbsStore);
  const violations: Violation[] = [];
  const found = (invariant: Invariant, at: number, message: string, about: readonly string[]): void => {
    violations.push({ invariant, at, message, about });
  };
  let judged = 0;

  for (const { instance, at, node, job, attempt } of ofKind(history, 'assigned')) {
    if (instance === undefined) continue;
    judged += 1;
    // A node that was frozen reads everything when it wakes.
    const writtenFrom = asleep(node)?.find(at)?.from ?? at;
    const stopped = since(downtimes.get(instance), at, flightMs, writtenFrom);
    const alone = since(cutOff(instance), at, presenceMs + flightMs, writtenFrom);
    if (stopped === undefined && alone === undefined) continue;
    found(
      'I9 nothing to the dead',
      at,
      `${node} got ${job}#${attempt} from ${instance}, which ${whySilent(stopped, alone)}`,
      [job, node],
    );
  }
  for (const each of ofKind(history, 'accepted', 'refused', 'delivered')) {
    const { at, instance, client, kind } = each;
    if (instance === undefined) continue;
    judged += 1;
    // So does a client that was unreachable.
    const writtenFrom = partitioned(client)?.find(at)?.from ?? at;
    const stopped = since(downtimes.get(instance), at, flightMs, writtenFrom);
    // It may only refuse.
    const alone =
      kind === 'refused' ? undefined : since(cutOff(instance), at, presenceMs + flightMs, writtenFrom);
    if (stopped === undefined && alone === undefined) continue;
    const what = each.kind === 'delivered' ? `number ${each.seq} of ${each.session}` : each.request;
    found(
      'I9 nothing to the dead',
      at,
      `${what} was ${kind} by ${instance}, which ${whySilent(stopped, alone)}`,
      [each.kind === 'delivered' ? client : each.request, instance],
    );
  }
  const messages = ofKind(history, 'message_sent');
  judged += messages.length;
  for (const { from, to, at } of messages) {
    const stopped = since(downtimes.get(to), at, presenceMs);
    if (stopped === undefined) continue;
    // Its last renewal may have waited at a server that did not answer, and counted from then on; and while a server does not answer,
    // the absence of a presence cannot be read there.
    const countedFrom = disturbed.find(stopped)?.to ?? stopped;
    if (at <= countedFrom + presenceMs || disturbed.meets(at - LOOKED_WITHIN_MS - answerMs, at)) continue;
    found(
      'I9 nothing to the dead',
      at,
      `${from} wrote to ${to}, which had stopped at ${Math.round(stopped)} ms`,
      [from, to],
    );
  }
  for (const { instance, at, isMeant } of ofKind(history, 'instance_down')) {
    if (!isMeant) found('I9 nothing to the dead', at, `${instance} ended without an order`, [instance]);
  }
  for (const { instance, at, text } of logs) {
    if (SLOT_ERRORS.test(text)) found('I8 one slot per script', at, `${instance}: ${text}`, [instance]);
  }
  return {
    violations,
    counts: {
      'errors in logs': logs.filter(({ level }) => level >= ERROR).length,
      'messages between instances': messages.length,
    },
    // A server refuses a script with keys of several hash slots, and the instance logs it.
    judged: { 'I8 one slot per script': scripts, 'I9 nothing to the dead': judged },
  };
}

const whySilent = (stoppedAt: number | undefined, aloneSince: number | undefined): string =>
  stoppedAt === undefined
    ? `had not reached the store since ${Math.round(aloneSince ?? 0)} ms`
    : `had stopped at ${Math.round(stoppedAt)} ms`;

/** Since when this state lasts, if it began before `from` and still lasts at `at`. */
function since(spans: Spans | undefined, at: number, graceMs: number, from = at): number | undefined {
  const span = spans?.find(from);
  return span !== undefined && span.from + graceMs < from && at < span.to ? span.from : undefined;
}
