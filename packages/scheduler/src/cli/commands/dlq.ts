/** The command `lingua dlq`: letters between instances that could not be handled. */
import {
  type DeadLetterReplayReply,
  type DeadLetterSummary,
  type DeadLettersPurgeReply,
  type DeadLettersReply,
  type DeadLetterView,
  LARGEST_PAGE,
} from '@lingua/protocol';
import type { CommandIo } from '../command-io.ts';
import { printDuration, readDuration } from '../duration.ts';
import { CommandFailure } from '../operator-client.ts';
import {
  type Asked,
  CommandMisuse,
  OPERATOR_FLAGS_USAGE,
  type OperatorCommand,
  runOperatorCommand,
} from '../operator-command.ts';
import { type Column, printable, printTable } from '../print-table.ts';

const USAGE = `Usage: lingua dlq list|show|replay|purge [options]

Letters between instances that were handed out too often and never handled.

  list               what they are about; never what was said in them
  show ID            one of them, with the length of its audio only
  replay ID...       into the inbox of its instance again, or of the asked one if that is gone
  purge              removes them for good

A replay passes the fence: the letter is handled like any other, and what it says of a job counts only if it names the node and
attempt that are current. It may arrive twice if it has to be repeated, which changes nothing for the same reason.
Ends with 0 if all was done, with 1 if the scheduler could not be asked, if something was not there, or was done in part.

  --instance ID      list, replay, purge: only those of this instance
  --older-than T     list, replay, purge: only those that died longer ago, such as 90s, 30m, 1h or 2d
  --all              replay, purge: all of them; must be said if nothing else is
  --limit N          list: how many (100)
  --raw              show: the audio too
${OPERATOR_FLAGS_USAGE}`;

const DLQ: OperatorCommand = {
  name: 'dlq',
  usage: USAGE,
  own: ['instance', 'older-than', 'all', 'limit', 'raw'],
  run: chooseAction,
};

export const runDlq = (argv: readonly string[], io: CommandIo): Promise<number> =>
  runOperatorCommand(DLQ, argv, io);

const ACTIONS: Readonly<Record<string, (asked: Asked, words: readonly string[]) => Promise<number>>> = {
  list,
  show,
  replay,
  purge,
};

async function chooseAction(asked: Asked): Promise<number> {
  const [word = '', ...words] = asked.words;
  const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
  if (action === undefined) {
    const problem = word === '' ? 'say what to do' : `there is no "${word}"`;
    throw new CommandMisuse(`${problem}: list, show, replay or purge (--help says more)`);
  }
  return action(asked, words);
}

const COLUMNS: readonly Column<DeadLetterSummary>[] = [
  { title: 'ID', cell: (letter) => letter.id },
  { title: 'ABOUT', cell: (letter) => letter.kind },
  { title: 'JOB', cell: (letter) => letter.job_id ?? '-' },
  { title: 'NODE', cell: (letter) => letter.node_id ?? '-' },
  { title: 'FROM', cell: (letter) => letter.from },
  { title: 'BYTES', cell: (letter) => letter.bytes },
  { title: 'TRIES', cell: (letter) => letter.deliveries },
  { title: 'DEAD FOR', cell: (letter) => printDuration(letter.age_ms) },
];

async function list(asked: Asked, words: readonly string[]): Promise<number> {
  refuse(asked, { words, flags: ['all', 'raw'] });
  const limit = Number(asked.flags.limit ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED)
    throw new CommandMisuse(`--limit must be a whole number from 1 to ${MOST_LISTED}`);
  const found = await collect(asked, limit);
  if (asked.isJson) asked.io.out(JSON.stringify(found, undefined, 2));
  else if (found.letters.length === 0) asked.io.out('No dead letters.');
  else {
    asked.io.out(printTable(COLUMNS, found.letters));
    asked.io.out(
      `\n${count(found.letters.length)}${found.is_cut ? ', and there are more: --limit shows them' : ''}.`,
    );
  }
  return tellUnreachable(asked, found.unreachable);
}

async function show(asked: Asked, words: readonly string[]): Promise<number> {
  const { client, flags, isJson, io } = asked;
  refuse(asked, { flags: ['instance', 'older-than', 'all', 'limit'] });
  const [id, ...more] = words;
  if (id === undefined || more.length > 0)
    throw new CommandMisuse('give the ID of one letter; "lingua dlq list" shows them');
  const letter = await client.ask<DeadLetterView>('GET', pathOf(id), { raw: flags.raw });
  if (isJson) io.out(JSON.stringify(letter, undefined, 2));
  else {
    const { body, ...about } = letter;
    const text = typeof body === 'string' ? body : JSON.stringify(body, undefined, 2);
    io.out(`${printTable(COLUMNS, [about])}\n\n${printable(text, { keepsLines: true })}`);
  }
  return 0;
}

async function replay(asked: Asked, ids: readonly string[]): Promise<number> {
  const { client, isJson, io } = asked;
  refuse(asked, { flags: ['limit', 'raw'] });
  const hasScope = isScoped(asked);
  if (hasScope === ids.length > 0)
    throw new CommandMisuse(hasScope ? 'give either IDs or a scope, not both' : `${NO_SCOPE}, or IDs`);
  const found = hasScope ? await collect(asked, MOST_LISTED) : undefined;
  const replayed: { id: string; to: string }[] = [];
  const failed: { id: string; problem: string }[] = [];
  for (const id of found?.letters.map((letter) => letter.id) ?? ids) {
    try {
      const { to } = await client.ask<DeadLetterReplayReply>('POST', `${pathOf(id)}/replay`);
      replayed.push({ id, to });
      if (!isJson) io.out(`${id} → inbox of ${to}`);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      failed.push({ id, problem: error.message });
      if (error.isFinal) break;
    }
  }
  if (isJson) io.out(JSON.stringify({ replayed, failed }, undefined, 2));
  else io.out(`${count(replayed.length)} replayed${found?.is_cut ? '; there are more, say it again' : ''}.`);
  for (const { id, problem } of failed) io.err(`lingua dlq: ${id}: ${problem}`);
  return Math.max(tellUnreachable(asked, found?.unreachable ?? []), failed.length > 0 ? 1 : 0);
}

async function purge(asked: Asked, words: readonly string[]): Promise<number> {
  const { client, flags, isJson, io } = asked;
  refuse(asked, { words, flags: ['limit', 'raw'] });
  if (!isScoped(asked)) throw new CommandMisuse(NO_SCOPE);
  const query = { instance_id: flags.instance, older_than_ms: olderThan(asked), all: flags.all };
  let purged = 0;
  for (;;) {
    const reply = await client.ask<DeadLettersPurgeReply>('DELETE', '/api/v1/dead-letters', query);
    purged += reply.purged;
    if (!reply.done && reply.purged > 0) continue;
    io.out(
      isJson
        ? JSON.stringify({ purged, unreachable: reply.unreachable }, undefined, 2)
        : `${count(purged)} purged.`,
    );
    return tellUnreachable(asked, reply.unreachable);
  }
}

const MOST_LISTED = 10_000;
const NO_SCOPE = 'say which: --instance, --older-than or --all';

interface Collected {
  readonly letters: readonly DeadLetterSummary[];
  readonly unreachable: readonly string[];
  readonly is_cut: boolean;
}

/** Page after page, until there are enough. */
async function collect(
  { client, flags }: Pick<Asked, 'client' | 'flags'>,
  limit: number,
): Promise<Collected> {
  const youngest = olderThan({ flags }) ?? 0;
  const letters: DeadLetterSummary[] = [];
  const unreachable = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const page = await client.ask<DeadLettersReply>('GET', '/api/v1/dead-letters', {
      instance_id: flags.instance,
      limit: Math.min(limit + 1, LARGEST_PAGE),
      cursor,
    });
    letters.push(...page.letters.filter(({ age_ms }) => age_ms >= youngest));
    for (const name of page.unreachable) unreachable.add(name);
    cursor = page.next_cursor;
    if (cursor === undefined || letters.length > limit)
      return {
        letters: letters.slice(0, limit),
        unreachable: [...unreachable],
        is_cut: letters.length > limit,
      };
  }
}

function olderThan({ flags }: Pick<Asked, 'flags'>): number | undefined {
  const text = flags['older-than'];
  if (text === undefined) return undefined;
  const ms = readDuration(text);
  if (ms === undefined)
    throw new CommandMisuse('--older-than must be a length of time such as 90s, 30m, 1h or 2d');
  return ms;
}

function isScoped({ flags }: Asked): boolean {
  const isNarrowed = flags.instance !== undefined || flags['older-than'] !== undefined;
  if (isNarrowed && flags.all === true)
    throw new CommandMisuse('--all does not go with --instance or --older-than; leave one of them out');
  return isNarrowed || flags.all === true;
}

function refuse(
  { flags }: Pick<Asked, 'flags'>,
  unfit: { readonly words?: readonly string[]; readonly flags: readonly (keyof Asked['flags'])[] },
): void {
  const [word] = unfit.words ?? [];
  if (word !== undefined) throw new CommandMisuse(`"${word}" is not expected here (--help says more)`);
  const flag = unfit.flags.find((name) => flags[name] !== undefined);
  if (flag !== undefined) throw new CommandMisuse(`--${flag} is not for this (--help says more)`);
}

function tellUnreachable({ io }: Pick<Asked, 'io'>, unreachable: readonly string[]): number {
  if (unreachable.length === 0) return 0;
  io.err(
    `lingua dlq: could not be asked in time: ${unreachable.join(', ')}; try again when "lingua cluster" shows them`,
  );
  return 1;
}

const pathOf = (id: string): string => `/api/v1/dead-letters/${encodeURIComponent(id)}`;
const count = (letters: number): string => `${letters} dead letter${letters === 1 ? '' : 's'}`;
