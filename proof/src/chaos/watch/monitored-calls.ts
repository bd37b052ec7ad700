/** What a server reports of the commands it runs (MONITOR): which instance writes to which. Pure. */
import type { HistoryEvent } from '../../../../packages/simulation/dist/history.js';
import type { LogLine } from '../../checker/instances.ts';

/** Under the ids of the instances. */
export interface SentMessage {
  readonly from: string;
  readonly to: string;
  /** Time of the server, since the epoch. */
  readonly atMs: number;
}

/** A script that was run, and the messages that it writes to an inbox. */
export interface Call {
  readonly messages: readonly SentMessage[];
}

/** The script that sends messages: its digest, and its name, with which its text begins. */
export interface SendingScript {
  readonly digest: string;
  readonly name: string;
}

/** A command inside a script has the source `lua`, and is part of the script. */
const SCRIPT = /^\+(\d+\.\d+) \[\d+ (?!lua\])[^\]]*\] "eval(?:sha)?" /i;
/** The last one may be cut. */
const WORD = /"([^"\\]*(?:\\.[^"\\]*)*)"?/g;
const INBOX = /:streams:\{instance:([^}]+)\}:inbox$/;
/** A lane, then an envelope whose first fields are the topic and the sender. */
const LETTER = /^\S+ \{\\"topic\\":\\"[^"\\]*\\",\\"from\\":\\"([^"\\]+)\\"/;

/** Undefined: it is no script. A line may be cut at its end. */
export function readCall(line: string, sending: SendingScript): Call | undefined {
  const [head, time] = SCRIPT.exec(line) ?? [];
  if (head === undefined) return undefined;
  const [script = '', , inbox = '', ...args] = Array.from(line.slice(head.length).matchAll(WORD), wordOf);
  const isSending = script === sending.digest || script.startsWith(`--[[ ${sending.name}:`);
  const to = isSending ? INBOX.exec(inbox)?.[1] : undefined;
  if (to === undefined) return { messages: [] };
  const senders = args.flatMap((arg) => LETTER.exec(arg)?.[1] ?? []);
  return { messages: senders.map((from) => ({ from, to, atMs: Number(time) * 1_000 })) };
}

const wordOf = ([, word = '']: RegExpExecArray): string => word;

/** Ids of instances → their names in the history. */
export function instanceNames(logs: readonly Pick<LogLine, 'instance' | 'text'>[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { instance, text } of logs) {
    const [, id] = /"instance_id":"([^"]+)"/.exec(text.includes('"listening"') ? text : '') ?? [];
    if (id !== undefined) names.set(id, instance);
  }
  return names;
}

/** The history with these messages, in the order of time. `epochMs`: when it began. */
export function withMessages(
  history: readonly HistoryEvent[],
  messages: readonly SentMessage[],
  { epochMs, names }: { readonly epochMs: number; readonly names: ReadonlyMap<string, string> },
): HistoryEvent[] {
  const nameOf = (id: string): string => names.get(id) ?? id;
  const sent = messages.map(
    ({ from, to, atMs }): HistoryEvent => ({
      at: atMs - epochMs,
      kind: 'message_sent',
      from: nameOf(from),
      to: nameOf(to),
    }),
  );
  return [...history, ...sent].sort((one, other) => one.at - other.at);
}
