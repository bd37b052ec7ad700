/**
 * Hot path: one run of a script, as a command of the client library. Several are sent per job, so it leaves out what the library's own
 * commands need: arguments of all kinds, a closure per listener, a property that is deleted from every object.
 */
import { Command } from 'ioredis';

export interface Script {
  readonly name: string;
  readonly digest: string;
  /** The constant beginning of every run on the wire, after the number of arguments. */
  readonly opening: string;
}

/** Called with the result of a command that the breaker has sent. */
export interface Listener {
  answered(command: Command): void;
  failed(command: Command, fault: unknown): void;
}

export function describeScript(name: string, digest: string): Script {
  return { name, digest, opening: `\r\n${bulk('evalsha')}${bulk(digest)}` };
}

export class ScriptCommand extends Command {
  /** Listener of the server to which it was sent last. Undefined: it was not sent. */
  listener: Listener | undefined = undefined;
  readonly #opening: string;
  readonly #keys: string[];
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(script: Script, keys: readonly string[], args: readonly (string | number)[]) {
    super('evalsha', NOTHING, AS_TEXT);
    this.#opening = script.opening;
    this.#keys = keys as string[];
    const words = [script.digest, String(keys.length), ...keys];
    for (const arg of args) words.push(typeof arg === 'string' ? arg : String(arg));
    this.args = words;
  }

  override getKeys(): string[] {
    return this.#keys;
  }

  override toWritable(): string {
    const { args } = this;
    let text = `*${args.length + 1}${this.#opening}`;
    for (let at = 1; at < args.length; at++) text += bulk(args[at] as string);
    return text;
  }

  override setTimeout(ms: number): void {
    this.#timer ??= setTimeout(timedOut, ms, this);
  }

  /** Called when the command has its answer or has failed. */
  ended(fault?: unknown): void {
    clearTimeout(this.#timer);
    if (fault === undefined) this.listener?.answered(this);
    else this.listener?.failed(this, fault);
  }
}

export const TIMED_OUT = 'Command timed out';

function timedOut(command: ScriptCommand): void {
  if (!command.isSettled) command.reject(new Error(TIMED_OUT));
}

const bulk = (word: string): string => `$${Buffer.byteLength(word)}\r\n${word}\r\n`;

const NOTHING: never[] = [];
const AS_TEXT = { replyEncoding: 'utf8' } as const;
