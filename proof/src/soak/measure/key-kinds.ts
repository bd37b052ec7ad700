/** Which kind of key a name in Redis is, by the scheduler's one list of keys. Pure. */
import { createKeys } from '../../../../packages/scheduler/dist/adapters/redis/keys.js';

/** Stands for every id while patterns are made. */
const ANY = '\u0001';

/** A name that the list does not have: it was spelled by hand. */
export const UNLISTED = 'not in the list of keys';

export function createKindOf(prefix: string): (name: string) => string {
  const patterns = Object.entries(createKeys(prefix)).map(([kind, spell]) => {
    const name = typeof spell === 'function' ? (spell as (...ids: string[]) => string)(ANY, ANY) : spell;
    const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(ANY, '.+');
    return { kind, pattern: new RegExp(`^${escaped}$`) };
  });
  return (name) => patterns.find(({ pattern }) => pattern.test(name))?.kind ?? UNLISTED;
}
