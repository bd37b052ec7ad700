/**
 * Cold path: cursors of lists. A cursor carries a digest of its list, its filters and its position, so that a mistyped one, or one
 * of another list, is refused instead of giving a wrong page. It protects nothing: every reader of a list may read all of it.
 */
import type { IdSource } from '../../../ports/id-source.ts';
import type { Refusal } from '../../wire/error-reply.ts';

/** Whose position it is: the name of the list, its filters, and the process if positions are only valid there. */
export type PageScope = readonly (string | undefined)[];

export interface PageCursors {
  print(scope: PageScope, position: string | undefined): string | undefined;
  /** Undefined: not a cursor of this list. */
  read(scope: PageScope, cursor: string): string | undefined;
}

const CHECK_CHARS = 12;

export function createPageCursors(digest: IdSource['digest']): PageCursors {
  const checkOf = (scope: PageScope, position: string): string =>
    digest(JSON.stringify([...scope.map((part) => part ?? null), position])).slice(0, CHECK_CHARS);
  return {
    print: (scope, position) =>
      position === undefined ? undefined : `${checkOf(scope, position)}.${position}`,
    read(scope, cursor) {
      const position = cursor.slice(CHECK_CHARS + 1);
      return cursor === `${checkOf(scope, position)}.${position}` ? position : undefined;
    },
  };
}

export const INVALID_CURSOR: Refusal = {
  code: 'INVALID_MESSAGE',
  detail: '"cursor" is not the next_cursor of a page of this list with these filters',
  field: '/cursor',
  hint: 'Repeat next_cursor unchanged, with the same filters. Lists of one instance continue on that instance and end with its restart: begin again without a cursor.',
};
