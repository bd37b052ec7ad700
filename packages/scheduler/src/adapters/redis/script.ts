/** A Lua script beside its typed wrapper: sent by its digest, and whole when a server does not know it yet. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { asDependency } from './dependency.ts';
import type { RedisConnection } from './redis-connection.ts';

/** The first word of every reply says what happened. */
export type Reply = readonly [word: string, ...rest: (string | number | null)[]];

/** Rejects with SCHEDULER_DEPENDENCY_DOWN: whether the script has run is then unknown. */
export interface RunScript {
  (keys: readonly string[], args: readonly (string | number)[]): Promise<Reply>;
  readonly scriptName: string;
  readonly digest: string;
}

/** `home`: import.meta.url of the wrapper, beside which `<name>.lua` lies. Read when the adapter is made, not at import. */
export function loadScript(connection: RedisConnection, home: string, name: string): RunScript {
  const lua = readFileSync(new URL(`./${name}.lua`, home), 'utf8');
  const digest = createHash('sha1').update(lua).digest('hex');
  names.set(digest, name).set(lua, name);

  async function send(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await connection.evalsha(digest, keys.length, ...keys, ...args);
    } catch (fault) {
      if (!isUnknownScript(fault)) throw fault;
      return await connection.eval(lua, keys.length, ...keys, ...args);
    }
  }

  const run = async (keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> =>
    (await asDependency(name, () => send(keys, args))) as Reply;
  return Object.assign(run, { scriptName: name, digest });
}

/** By digest and by text: as the files say, and so the same for every connection. */
const names = new Map<string, string>();

/** Which script a command runs. */
export const scriptNameOf = (digestOrText: string): string => names.get(digestOrText) ?? 'script';

export const isUnknownScript = (fault: unknown): boolean =>
  fault instanceof Error && fault.message.startsWith('NOSCRIPT');
