/** A Lua script beside its typed wrapper: sent by its digest, and whole when a server does not know it yet. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RedisConnection } from './redis-connection.ts';

/** The first word of every reply says what happened. */
export type Reply = readonly [word: string, ...rest: (string | number | null)[]];

export type RunScript = (keys: readonly string[], args: readonly (string | number)[]) => Promise<Reply>;

/** `home`: import.meta.url of the wrapper, beside which `<name>.lua` lies. Read when the adapter is made, not at import. */
export function loadScript(connection: RedisConnection, home: string, name: string): RunScript {
  const lua = readFileSync(new URL(`./${name}.lua`, home), 'utf8');
  const digest = createHash('sha1').update(lua).digest('hex');

  return async (keys, args) => {
    try {
      return (await connection.evalsha(digest, keys.length, ...keys, ...args)) as unknown as Reply;
    } catch (fault) {
      if (!(fault instanceof Error) || !fault.message.startsWith('NOSCRIPT')) throw fault;
      return (await connection.eval(lua, keys.length, ...keys, ...args)) as unknown as Reply;
    }
  };
}
