/** Letters that were handed out and not confirmed, without touching them: claiming one counts as a delivery. */
import type { RedisConnection } from '../connection/redis-connection.ts';

export interface StuckLetter {
  readonly letterId: string;
  readonly idleMs: number;
  readonly deliveries: number;
}

/** What is under way is passed over, so that a page may hold nothing of use. */
const PAGE = 256;

type Row = [letterId: string, reader: string, idleMs: number, deliveries: number];

export async function findStuckLetters(
  connection: RedisConnection,
  inbox: string,
  limits: { group: string; max: number; idleMs: number; except: ReadonlySet<string> },
): Promise<readonly StuckLetter[]> {
  const { group, max, idleMs, except } = limits;
  const found: StuckLetter[] = [];
  let from = '-';
  for (;;) {
    const rows = (await connection.xpending(inbox, group, 'IDLE', idleMs, from, '+', PAGE)) as Row[];
    for (const [letterId, , idle, deliveries] of rows) {
      if (!except.has(letterId)) found.push({ letterId, idleMs: idle, deliveries });
      if (found.length >= max) return found;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return found;
    from = `(${last[0]}`;
  }
}
