/** I7: while there is no store, new work is refused, soon and by the right name; it is never accepted. Pure. */
import { type Happening, ofKind } from '../../../packages/scheduler/dist/simulation/history.js';
import { covers, type Fault, faultsOf } from './faults.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

export function checkStoreDown(history: readonly Happening[], { noticeMs }: Allowances): Finding {
  const all = faultsOf(history);
  const outages = all.filter(({ what }) => what === 'store_down');
  /** The silence has another cause. */
  const isExcused = (client: string, from: number | undefined, to: number): boolean =>
    all.some(
      (fault) =>
        (fault.what.startsWith('instance_') && covers(fault, to)) ||
        (fault.what === 'client_cut' && fault.target === client && fault.beganAt >= (from ?? to)),
    );
  const during = (outage: Fault, from: number | undefined, to: number): boolean =>
    from !== undefined && outage.beganAt + noticeMs <= from && to < outage.endedAt;

  const violations: Violation[] = [];
  let refused = 0;
  for (const each of ofKind(history, 'accepted', 'refused', 'unanswered')) {
    const outage = outages.find((fault) => during(fault, each.askedAt, each.at));
    if (outage === undefined) continue;
    if (each.kind === 'refused') refused += 1;
    const says = complaint(each, isExcused(each.client, each.askedAt, each.at));
    if (says !== undefined)
      violations.push({
        invariant: 'I7 fail closed',
        at: each.at,
        says: `${each.request} of ${each.client} ${says}`,
        about: [each.request],
      });
  }
  return { violations, counts: { 'refused because the store was down': refused } };
}

function complaint(
  each: Extract<Happening, { kind: 'accepted' | 'refused' | 'unanswered' }>,
  isExcused: boolean,
): string | undefined {
  if (each.kind === 'accepted') return 'was accepted while there was no store';
  if (each.kind === 'unanswered')
    return isExcused ? undefined : `was not answered while there was no store: ${each.why}`;
  return each.code === 'SCHEDULER_DEPENDENCY_DOWN'
    ? undefined
    : `was refused with ${each.code} while there was no store`;
}
