/** Finds messages that were delivered and not acknowledged, without claiming them: a claim counts as a delivery. */
import type { RedisConnection } from '../connection/redis-connection.ts';

export interface StuckMessage {
  readonly messageId: string;
  readonly idleMs: number;
  readonly deliveries: number;
}

/** Messages that are being handled are skipped, so a page may hold no stuck message. */
const PAGE = 256;

type Row = [messageId: string, reader: string, idleMs: number, deliveries: number];

export async function findStuckMessages(
  connection: RedisConnection,
  inbox: string,
  limits: { group: string; max: number; idleMs: number; except: ReadonlySet<string> },
): Promise<readonly StuckMessage[]> {
  const { group, max, idleMs, except } = limits;
  const found: StuckMessage[] = [];
  let from = '-';
  for (;;) {
    const rows = (await connection.xpending(inbox, group, 'IDLE', idleMs, from, '+', PAGE)) as Row[];
    for (const [messageId, , idle, deliveries] of rows) {
      if (!except.has(messageId)) found.push({ messageId, idleMs: idle, deliveries });
      if (found.length >= max) return found;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return found;
    from = `(${last[0]}`;
  }
}
