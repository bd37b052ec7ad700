/** The command `lingua dlq`: dead letters, i.e. messages between instances that could not be handled. */
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
  CommandMisuse,
  OPERATOR_FLAGS_USAGE,
  type OperatorCommand,
  type OperatorRequest,
  runOperatorCommand,
} from '../operator-command.ts';
import { type Column, printable, printTable } from '../print-table.ts';

const USAGE = `Usage: lingua dlq list|show|replay|purge [options]

Dead letters: messages between instances that were delivered too often without being handled.

  list               what each dead letter is about, without its content
  show ID            one dead letter; of its audio only the length
  replay ID...       sends it to its instance again, or to the instance at --url if that one is removed
  purge              removes dead letters permanently

A replayed message is handled like any other: a report about a job counts only if it names the current node and attempt. So a
message that arrives twice, because a replay was repeated, has no second effect.
Exits with 0 on success, with 1 if the scheduler did not answer, a dead letter did not exist, or only a part was done.

  --instance ID      list, replay, purge: only dead letters of this instance
  --older-than T     list, replay, purge: only dead letters older than this, such as 90s, 30m, 1h or 2d
  --all              replay, purge: all dead letters; required without another selection
  --limit N          list: how many (100)
  --raw              show: with the audio
${OPERATOR_FLAGS_USAGE}`;

const DLQ: OperatorCommand = {
  name: 'dlq',
  usage: USAGE,
  own: ['instance', 'older-than', 'all', 'limit', 'raw'],
  run: chooseAction,
};

export const runDlq = (argv: readonly string[], io: CommandIo): Promise<number> =>
  runOperatorCommand(DLQ, argv, io);

const ACTIONS: Readonly<
  Record<string, (request: OperatorRequest, words: readonly string[]) => Promise<number>>
> = {
  list,
  show,
  replay,
  purge,
};

async function chooseAction(request: OperatorRequest): Promise<number> {
  const [word = '', ...words] = request.words;
  const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
  if (action === undefined) {
    const problem = word === '' ? 'an action is missing' : `there is no "${word}"`;
    throw new CommandMisuse(`${problem}: use list, show, replay or purge (--help explains them)`);
  }
  return action(request, words);
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

async function list(request: OperatorRequest, words: readonly string[]): Promise<number> {
  refuse(request, { words, flags: ['all', 'raw'] });
  const limit = Number(request.flags.limit ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED)
    throw new CommandMisuse(`--limit must be a whole number from 1 to ${MOST_LISTED}`);
  const found = await collect(request, limit);
  if (request.isJson) request.io.out(JSON.stringify(found, undefined, 2));
  else if (found.letters.length === 0) request.io.out('No dead letters.');
  else {
    request.io.out(printTable(COLUMNS, found.letters));
    request.io.out(
      `\n${count(found.letters.length)}${found.is_cut ? ', and there are more: --limit shows them' : ''}.`,
    );
  }
  return reportUnreachable(request, found.unreachable);
}

async function show(request: OperatorRequest, words: readonly string[]): Promise<number> {
  const { client, flags, isJson, io } = request;
  refuse(request, { flags: ['instance', 'older-than', 'all', 'limit'] });
  const [id, ...more] = words;
  if (id === undefined || more.length > 0)
    throw new CommandMisuse('give the ID of one dead letter; "lingua dlq list" shows them');
  const letter = await client.call<DeadLetterView>('GET', pathOf(id), { raw: flags.raw });
  if (isJson) io.out(JSON.stringify(letter, undefined, 2));
  else {
    const { body, ...about } = letter;
    const text = typeof body === 'string' ? body : JSON.stringify(body, undefined, 2);
    io.out(`${printTable(COLUMNS, [about])}\n\n${printable(text, { keepsLines: true })}`);
  }
  return 0;
}

async function replay(request: OperatorRequest, ids: readonly string[]): Promise<number> {
  const { client, isJson, io } = request;
  refuse(request, { flags: ['limit', 'raw'] });
  const hasScope = isScoped(request);
  if (hasScope === ids.length > 0)
    throw new CommandMisuse(hasScope ? 'give either IDs or a scope, not both' : `${NO_SCOPE}, or IDs`);
  const found = hasScope ? await collect(request, MOST_LISTED) : undefined;
  const replayed: { id: string; to: string }[] = [];
  const failed: { id: string; problem: string }[] = [];
  for (const id of found?.letters.map((letter) => letter.id) ?? ids) {
    try {
      const { to } = await client.call<DeadLetterReplayReply>('POST', `${pathOf(id)}/replay`);
      replayed.push({ id, to });
      if (!isJson) io.out(`${id} → inbox of ${to}`);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      failed.push({ id, problem: error.message });
      if (error.isFinal) break;
    }
  }
  if (isJson) io.out(JSON.stringify({ replayed, failed }, undefined, 2));
  else
    io.out(
      `${count(replayed.length)} replayed${found?.is_cut ? '; there are more, repeat the command' : ''}.`,
    );
  for (const { id, problem } of failed) io.err(`lingua dlq: ${id}: ${problem}`);
  return Math.max(reportUnreachable(request, found?.unreachable ?? []), failed.length > 0 ? 1 : 0);
}

async function purge(request: OperatorRequest, words: readonly string[]): Promise<number> {
  const { client, flags, isJson, io } = request;
  refuse(request, { words, flags: ['limit', 'raw'] });
  if (!isScoped(request)) throw new CommandMisuse(NO_SCOPE);
  const query = { instance_id: flags.instance, older_than_ms: olderThan(request), all: flags.all };
  let purged = 0;
  for (;;) {
    const reply = await client.call<DeadLettersPurgeReply>('DELETE', '/api/v1/dead-letters', query);
    purged += reply.purged;
    if (!reply.done && reply.purged > 0) continue;
    io.out(
      isJson
        ? JSON.stringify({ purged, unreachable: reply.unreachable }, undefined, 2)
        : `${count(purged)} purged.`,
    );
    return reportUnreachable(request, reply.unreachable);
  }
}

const MOST_LISTED = 10_000;
const NO_SCOPE = 'give --instance, --older-than or --all';

interface Collected {
  readonly letters: readonly DeadLetterSummary[];
  readonly unreachable: readonly string[];
  readonly is_cut: boolean;
}

/** Reads page after page, until there are enough. */
async function collect(
  { client, flags }: Pick<OperatorRequest, 'client' | 'flags'>,
  limit: number,
): Promise<Collected> {
  const youngest = olderThan({ flags }) ?? 0;
  const letters: DeadLetterSummary[] = [];
  const unreachable = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const page = await client.call<DeadLettersReply>('GET', '/api/v1/dead-letters', {
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

function olderThan({ flags }: Pick<OperatorRequest, 'flags'>): number | undefined {
  const text = flags['older-than'];
  if (text === undefined) return undefined;
  const ms = readDuration(text);
  if (ms === undefined) throw new CommandMisuse('--older-than must be a duration such as 90s, 30m, 1h or 2d');
  return ms;
}

function isScoped({ flags }: OperatorRequest): boolean {
  const isNarrowed = flags.instance !== undefined || flags['older-than'] !== undefined;
  if (isNarrowed && flags.all === true)
    throw new CommandMisuse('--all cannot be combined with --instance or --older-than');
  return isNarrowed || flags.all === true;
}

function refuse(
  { flags }: Pick<OperatorRequest, 'flags'>,
  unfit: { readonly words?: readonly string[]; readonly flags: readonly (keyof OperatorRequest['flags'])[] },
): void {
  const [word] = unfit.words ?? [];
  if (word !== undefined)
    throw new CommandMisuse(`"${word}" is not expected here (--help lists the options)`);
  const flag = unfit.flags.find((name) => flags[name] !== undefined);
  if (flag !== undefined) throw new CommandMisuse(`--${flag} does not apply here (--help lists the options)`);
}

function reportUnreachable({ io }: Pick<OperatorRequest, 'io'>, unreachable: readonly string[]): number {
  if (unreachable.length === 0) return 0;
  io.err(
    `lingua dlq: no answer in time for: ${unreachable.join(', ')}; try again when "lingua cluster" shows them`,
  );
  return 1;
}

const pathOf = (id: string): string => `/api/v1/dead-letters/${encodeURIComponent(id)}`;
const count = (letters: number): string => `${letters} dead letter${letters === 1 ? '' : 's'}`;
