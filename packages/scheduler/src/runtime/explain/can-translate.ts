/** Cold path: whether a node translates a direction, also from an unknown source language. Pure. */
import { ANY } from '../../domain/language.ts';
import type { NeededDirection } from '../../domain/need.ts';
import { type NmtAbility, translates } from '../../domain/profile.ts';

export function canTranslate(nmt: NmtAbility, { source, target }: NeededDirection): boolean {
  if (source !== ANY) return translates(nmt, source, target);
  if (nmt.pairs.some((pair) => pair.target === target)) return true;
  // If every language is a source, a finite list of blocked pairs cannot exclude all of them.
  if (nmt.sources === ANY) return nmt.targets === ANY || nmt.targets.includes(target);
  return nmt.sources.some((one) => translates(nmt, one, target));
}
