/** Runs a Lua script by its digest, or with its whole text if the server has not loaded it yet. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Cluster } from 'ioredis';
import { dependencyFault } from './dependency.ts';
import type { RedisConnection } from './redis-connection.ts';
import { describeScript, ScriptCommand } from './script-command.ts';

/** The first word of every reply is the outcome. */
export type Reply = readonly [word: string, ...rest: (string | number | null)[]];

type Words = readonly (string | number)[];

/** Rejects with SCHEDULER_DEPENDENCY_DOWN: whether the script has run is then unknown. */
export interface RunScript {
  (keys: readonly string[], args: Words): Promise<Reply>;
  readonly scriptName: string;
  readonly digest: string;
}

/** `home`: import.meta.url of the wrapper; `<name>.lua` is in the same folder. It is read when the adapter is created, not at import. */
export function loadScript(connection: RedisConnection, home: string, name: string): RunScript {
  const lua = readFileSync(new URL(`./${name}.lua`, home), 'utf8');
  const digest = createHash('sha1').update(lua).digest('hex');
  const script = describeScript(name, digest);
  const freshMs = commandTimeoutOf(connection);
  names.set(digest, name).set(lua, name);

  function send(keys: readonly string[], args: Words): Promise<unknown> {
    // A connection that waits for replicas has its own `evalsha`.
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

  /** `faults`: all faults so far. While a hash slot moves, two servers are involved: both may lack the script, and one may end it early. */
  function recover(
    keys: readonly string[],
    args: Words,
    sentAt: number,
    faults: readonly unknown[],
  ): Promise<unknown> {
    const fault = faults.at(-1);
    const remedy = remedyFor(fault, faults);
    // If this instance was frozen that long, it may have been declared dead: do not retry.
    if (remedy === undefined || performance.now() - sentAt > freshMs) throw dependencyFault(name, fault);
    return remedy(keys, args).catch((again: unknown) => recover(keys, args, sentAt, [...faults, again]));
  }

  function remedyFor(fault: unknown, faults: readonly unknown[]): typeof send | undefined {
    if (isUnknownScript(fault)) return faults.filter(isUnknownScript).length <= 2 ? sendWhole : undefined;
    // The script had a part of its effect; a complete run after it is safe.
    return isCutShort(fault) && faults.filter(isCutShort).length === 1 ? send : undefined;
  }

  function run(keys: readonly string[], args: Words): Promise<Reply> {
    const sentAt = performance.now();
    return send(keys, args).catch((fault: unknown) => recover(keys, args, sentAt, [fault])) as Promise<Reply>;
  }
  return Object.assign(run, { scriptName: name, digest });
}

/**
 * A first reply that took longer than a command may take comes from an instance that stood still. With the default of 800 ms and the retry,
 * no answer is older than the age that node reports may have (`OVER_HTTP_MS`).
 */
function commandTimeoutOf(connection: RedisConnection): number {
  const own = connection instanceof Cluster ? connection.options.redisOptions : connection.options;
  return own?.commandTimeout ?? Number.POSITIVE_INFINITY;
}

/** Names by digest and by text; the same for every connection. */
const names = new Map<string, string>();

/** Name of the script that a command runs. */
export const scriptNameOf = (digestOrText: string): string => names.get(digestOrText) ?? 'script';

/**
 * While a hash slot moves to another server, a key that the script itself has just emptied counts as already moved: the server ends the
 * script as if it had used a key of another server. A repeat is redirected or delayed before anything runs.
 */
const isCutShort = (fault: unknown): boolean =>
  fault instanceof Error && /access a non local key|during rehashing of the slot/.test(fault.message);

/** The hash slot has moved to another server, or its keys are on two servers. The Cluster connection redirects the command. */
export const isSlotMoving = (fault: Error): boolean => /^(MOVED|ASK|TRYAGAIN) /.test(fault.message);

export const isUnknownScript = (fault: unknown): boolean =>
  fault instanceof Error && fault.message.startsWith('NOSCRIPT');
