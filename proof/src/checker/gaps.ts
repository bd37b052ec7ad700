/**
 * I5: a translation that is done is told soon, at the latest when the gap before it is closed. Pure. Of those who have a session:
 * others come and ask when they like.
 */
import { ofKind } from '../../../packages/scheduler/dist/simulation/history.js';
import type { Facts } from './facts.ts';
import { disturbsStore, type Fault, hitsOf, isOf, spansOf } from './faults.ts';
import { createSightings } from './sightings.ts';
import type { Allowances, Finding, Violation } from './violation.ts';

export function checkGaps(
  { history, faults, lives, stories }: Facts,
  { gapMs, graceMs, recoverMs }: Allowances,
): Finding {
  const speakers = new Set(ofKind(history, 'delivered').map(({ client }) => client));
  const seen = createSightings(history);
  const absences = hitsOf(faults, isOf('client_cut'));
  // Nobody takes over what a dead instance knew before the store has been back for a while.
  const unwell = spansOf(faults, holdsUpWords, { after: recoverMs });
  const violations: Violation[] = [];
  let longest = 0;
  for (const { client, request, outcomes } of stories) {
    const by = outcomes[0]?.result?.by;
    const doneAt = by && seen.doneAt(by);
    const told = outcomes[0];
    if (by === undefined || doneAt === undefined || told === undefined || !speakers.has(client)) continue;
    const waitedMs =
      told.at -
      doneAt -
      Math.max(lives.lifeless.lengthWithin(doneAt, told.at), unwell.lengthWithin(doneAt, told.at)) -
      (absences(client)?.lengthWithin(doneAt, told.at) ?? 0);
    longest = Math.max(longest, waitedMs);
    if (waitedMs <= gapMs + graceMs) continue;
    violations.push({
      invariant: 'I5 order',
      at: told.at,
      says: `${client} heard of ${request} ${Math.round(waitedMs)} ms after it was done; a gap before it may last ${gapMs} ms`,
      about: [request, client],
    });
  }
  return { violations, counts: { 'longest from done to told, ms': Math.round(longest) } };
}

const isOfInstances = isOf('instance_killed', 'instance_frozen', 'instance_restarted');
const holdsUpWords = (fault: Fault): boolean => disturbsStore(fault) || isOfInstances(fault);
