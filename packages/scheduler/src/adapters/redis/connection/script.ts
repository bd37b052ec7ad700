/** A Lua script beside its typed wrapper: sent by its digest, and whole when a server does not know it yet. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dependencyFault } from './dependency.ts';
import type { RedisConnection } from './redis-connection.ts';
import { describeScript, ScriptCommand } from './script-command.ts';

/** The first word of every reply says what happened. */
export type Reply = readonly [word: string, ...rest: (string | number | null)[]];

type Words = readonly (string | number)[];

/** Rejects with SCHEDULER_DEPENDENCY_DOWN: whether the script has run is then unknown. */
export interface RunScript {
  (keys: readonly string[], args: Words): Promise<Reply>;
  readonly scriptName: string;
  readonly digest: string;
}

/** `home`: import.meta.url of the wrapper, beside which `<name>.lua` lies. Read when the adapter is made, not at import. */
export function loadScript(connection: RedisConnection, home: string, name: string): RunScript {
  const lua = readFileSync(new URL(`./${name}.lua`, home), 'utf8');
  const digest = createHash('sha1').update(lua).digest('hex');
  const script = describeScript(name, digest);
  names.set(digest, name).set(lua, name);

  function send(keys: readonly string[], args: Words): Promise<unknown> {
    // Some connections have ways of their own to run scripts.
    if (connection.sendCommand === undefined)
      return connection.evalsha(digest, keys.length, ...keys, ...args);
    const command = new ScriptCommand(script, keys, args);
    return (connection.sendCommand(command) as Promise<unknown>).then(
      (reply) => {
        command.ended();
        return reply;
      },
      (fault: unknown) => {
        command.ended(fault);
        throw fault;
      },
    );
  }

  const sendWhole: typeof send = (keys, args) => connection.eval(lua, keys.length, ...keys, ...args);

  /** `was`: what was wrong so far. While a slot moves there are two servers: neither may know the script, and one may cut it short. */
  function recover(
    keys: readonly string[],
    args: Words,
    sentAt: number,
    was: readonly unknown[],
  ): Promise<unknown> {
    const fault = was.at(-1);
    const cure = cureFor(fault, was);
    // Who stood still meanwhile may not be one who may write any more.
    if (cure === undefined || performance.now() - sentAt > FRESH_MS) throw dependencyFault(name, fault);
    return cure(keys, args).catch((again: unknown) => recover(keys, args, sentAt, [...was, again]));
  }

  function cureFor(fault: unknown, was: readonly unknown[]): typeof send | undefined {
    if (isUnknownScript(fault)) return was.filter(isUnknownScript).length <= 2 ? sendWhole : undefined;
    // It had some of its effect, and none of that harms when it has all of it now.
    return isCutShort(fault) && was.filter(isCutShort).length === 1 ? send : undefined;
  }

  function run(keys: readonly string[], args: Words): Promise<Reply> {
    const sentAt = performance.now();
    return send(keys, args).catch((fault: unknown) => recover(keys, args, sentAt, [fault])) as Promise<Reply>;
  }
  return Object.assign(run, { scriptName: name, digest });
}

/** As long as a command may take by default. With the one after it, no answer is older than reports of nodes may be (`OVER_HTTP_MS`). */
const FRESH_MS = 800;

/** By digest and by text: as the files say, and so the same for every connection. */
const names = new Map<string, string>();

/** Which script a command runs. */
export const scriptNameOf = (digestOrText: string): string => names.get(digestOrText) ?? 'script';

/**
 * While the slot moves to another server, a key that the script itself has just emptied counts as already there: the server ends the script
 * as if it had named a foreign key. Asked again it says where to go, or to wait, before anything runs.
 */
const isCutShort = (fault: unknown): boolean =>
  fault instanceof Error && /access a non local key|during rehashing of the slot/.test(fault.message);

/** The slot is another server's by now, or of the keys some are there and some here. A connection to the Cluster finds the way. */
export const isOnTheMove = (fault: Error): boolean => /^(MOVED|ASK|TRYAGAIN) /.test(fault.message);

export const isUnknownScript = (fault: unknown): boolean =>
  fault instanceof Error && fault.message.startsWith('NOSCRIPT');
