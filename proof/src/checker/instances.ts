/** I8 and I9, as far as they show outside: the dead say nothing, nobody dies by himself, and no script leaves its slot. Pure. */
import { type Happening, ofKind } from '../../../packages/scheduler/dist/simulation/history.js';
import { faultsOf } from './faults.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

/** One line of an instance's log. */
export interface LogLine {
  readonly instance: string;
  readonly at: number;
  readonly level: number;
  readonly text: string;
}

const SLOT_ERRORS = /CROSSSLOT|non local key|undeclared key|Lua script attempted/i;
const ERROR = 50;

export function checkInstances(
  history: readonly Happening[],
  logs: readonly LogLine[],
  { flightMs }: Allowances,
): Finding {
  const spans = silencesOf(history);
  const violations: Violation[] = [];
  for (const { instance, at, node, job, attempt } of ofKind(history, 'assigned')) {
    const silence = spans.find(
      (span) => span.instance === instance && span.from + flightMs < at && at < span.to,
    );
    if (silence === undefined) continue;
    violations.push({
      invariant: 'I9 nothing to the dead',
      at,
      says: `${node} got ${job}#${attempt} from ${instance}, which had stopped at ${Math.round(silence.from)} ms`,
      about: [job, node],
    });
  }
  for (const { instance, at, isMeant } of ofKind(history, 'instance_down')) {
    if (isMeant) continue;
    violations.push({
      invariant: 'I9 nothing to the dead',
      at,
      says: `${instance} ended otherwise than it was told to`,
      about: [instance],
    });
  }
  for (const { instance, at, text } of logs) {
    if (SLOT_ERRORS.test(text))
      violations.push({
        invariant: 'I8 one slot per script',
        at,
        says: `${instance}: ${text}`,
        about: [instance],
      });
  }
  return { violations, counts: { 'errors in logs': logs.filter(({ level }) => level >= ERROR).length } };
}

interface Silence {
  readonly instance: string;
  readonly from: number;
  readonly to: number;
}

function silencesOf(history: readonly Happening[]): Silence[] {
  const deaths = ofKind(history, 'instance_down').map(({ instance, at }) => ({
    instance,
    from: at,
    to: Number.POSITIVE_INFINITY,
  }));
  const freezes = faultsOf(history)
    .filter(({ what }) => what === 'instance_frozen')
    .map(({ target, beganAt, endedAt }) => ({ instance: target, from: beganAt, to: endedAt }));
  return [...deaths, ...freezes];
}
