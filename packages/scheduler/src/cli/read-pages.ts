/** Reads the pages of a list until the limit of the command. */
import { LARGEST_PAGE } from '@lingua/protocol';
import type { Query } from './operator-client.ts';
import { CommandMisuse, type OperatorRequest } from './operator-command.ts';

const DEFAULT_LIMIT = 100;
/** I11: a list with a rare filter may have many empty pages. */
const MAX_PAGES = 1_000;

export async function readPages<Reply extends { readonly next_cursor?: string }, Row>(
  { client, flags }: OperatorRequest,
  path: string,
  query: Query,
  rowsIn: (reply: Reply) => readonly Row[],
): Promise<{ readonly rows: readonly Row[]; readonly hasMore: boolean }> {
  const limit = Number(flags.limit ?? DEFAULT_LIMIT);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new CommandMisuse('--limit must be a whole number from 1');
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const size = Math.min(LARGEST_PAGE, limit - rows.length);
    const reply: Reply = await client.call<Reply>('GET', path, { ...query, limit: size, cursor });
    rows.push(...rowsIn(reply));
    cursor = reply.next_cursor;
    if (cursor === undefined || rows.length >= limit) break;
  }
  return { rows, hasMore: cursor !== undefined };
}
