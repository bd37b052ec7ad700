/** Hot path: writes a node's view into the table of facts; only differences are written. */
import type { NodeView } from '../../domain/node.ts';
import type { Place } from '../../domain/region.ts';
import { factKey } from './fact-key.ts';
import type { FactTable } from './fact-table.ts';
import type { ProfileFacts } from './profile-facts.ts';

export type Marked = Pick<NodeView, 'markedServices' | 'markedTypes'>;
export const UNMARKED: Marked = { markedServices: [], markedTypes: [] };

/** Returns whether anything changed. */
export function putFacts(
  facts: FactTable,
  index: number,
  before: ProfileFacts,
  after: ProfileFacts,
): boolean {
  let isNews = false;
  if (before === after) return isNews;
  for (const key of before) if (!after.has(key)) isNews = facts.put(key, index, false) || isNews;
  for (const key of after) if (!before.has(key)) isNews = facts.put(key, index, true) || isNews;
  return isNews;
}

/** The same for services and types that are marked as unavailable. */
export function putMarks(facts: FactTable, index: number, before: Marked, after: Marked): boolean {
  const isNews = putList(before.markedServices, after.markedServices, (id, isMarked) =>
    facts.put(factKey.marked(id), index, isMarked),
  );
  const isNewType = putList(before.markedTypes, after.markedTypes, (type, isMarked) =>
    facts.put(factKey.markedType(type), index, isMarked),
  );
  return isNews || isNewType;
}

/** The same for where the node is. */
export function putPlace(facts: FactTable, index: number, before: Place, after: Place): boolean {
  if (before.region === after.region && before.zone === after.zone) return false;
  if (before.region !== undefined) facts.put(factKey.inRegion(before.region), index, false);
  if (before.zone !== undefined) facts.put(factKey.inZone(before), index, false);
  if (after.region !== undefined) facts.put(factKey.inRegion(after.region), index, true);
  if (after.zone !== undefined) facts.put(factKey.inZone(after), index, true);
  return true;
}

export const NOWHERE: Place = {};

function putList<T>(
  before: readonly T[],
  after: readonly T[],
  put: (item: T, isTrue: boolean) => boolean,
): boolean {
  if (before === after) return false;
  let isNews = false;
  for (const item of before) if (!after.includes(item)) isNews = put(item, false) || isNews;
  for (const item of after) isNews = put(item, true) || isNews;
  return isNews;
}
