/**
 * What a configuration asks for that this version does not do yet. Such a file is read and printed like any other, but not
 * started with: that would promise isolation in vain. Pure.
 */
import type { Config } from './settings.ts';

export function findUnbuilt({ scheduler }: Config): readonly string[] {
  const found: string[] = [];
  if (scheduler.phase3.enabled) {
    found.push(
      'scheduler.phase3.enabled is true, but this version has no pools: jobs would run on any node; set it to false',
    );
  }
  return found;
}
