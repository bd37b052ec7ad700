/** Cold path: pages of the open sessions for operators, newest first. A cursor stays valid after its session ended. */
import type { SessionId, TenantId } from '../../domain/ids.ts';
import type { Session } from '../session.ts';
import type { SessionPage, SessionView } from '../session-service.ts';
import { summarize } from './session-summary.ts';

/** A page ends after this many sessions even if few belong to the tenant; its cursor continues from there. */
const MAX_SCANNED = 5_000;
const BLOCK = 256;

export interface SessionPages {
  add(sessionId: SessionId): void;
  remove(sessionId: SessionId): void;
  page(query: { tenantId?: TenantId | undefined; limit: number; cursor?: string | undefined }): SessionPage;
}

/** Consecutively opened sessions. Blocks keep the removal of one session cheap. */
interface Block {
  readonly first: number;
  /** The ordinal of each opening, ascending. */
  readonly numbers: Map<SessionId, number>;
}

export function createSessionPages(sessions: ReadonlyMap<SessionId, Session>): SessionPages {
  const blocks: Block[] = [];
  const blockOf = new Map<SessionId, Block>();
  let opened = 0;

  /** Number of blocks that begin before this ordinal. */
  function blocksBefore(number: number): number {
    let low = 0;
    let high = blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((blocks[middle]?.first ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function newestBlock(): Block {
    const last = blocks.at(-1);
    if (last !== undefined && opened < last.first + BLOCK) return last;
    const block: Block = { first: opened, numbers: new Map() };
    blocks.push(block);
    return block;
  }

  /** Sessions with a lower ordinal, newest first. */
  function* openedBefore(number: number): Generator<readonly [SessionId, number]> {
    for (let at = blocksBefore(number) - 1; at >= 0; at -= 1) {
      const numbers = [...(blocks[at]?.numbers ?? [])].reverse();
      for (const entry of numbers) if (entry[1] < number) yield entry;
    }
  }

  return {
    add(sessionId) {
      opened += 1;
      const block = newestBlock();
      block.numbers.set(sessionId, opened);
      blockOf.set(sessionId, block);
    },
    remove(sessionId) {
      const block = blockOf.get(sessionId);
      if (block === undefined) return;
      blockOf.delete(sessionId);
      block.numbers.delete(sessionId);
      if (block.numbers.size === 0) blocks.splice(blocksBefore(block.first), 1);
    },
    page({ tenantId, limit, cursor }) {
      const views: SessionView[] = [];
      let scanned = 0;
      let last = 0;
      for (const [sessionId, number] of openedBefore(
        cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor),
      )) {
        if (views.length >= limit || scanned >= MAX_SCANNED) return { sessions: views, cursor: String(last) };
        scanned += 1;
        last = number;
        const session = sessions.get(sessionId);
        if (session !== undefined && (tenantId === undefined || session.tenantId === tenantId))
          views.push(summarize(session));
      }
      return { sessions: views };
    },
  };
}
