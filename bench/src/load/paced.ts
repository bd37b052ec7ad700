/** Sessions that send like a microphone: one chunk every 100 ms, each at its own offset, whatever the server does; and idle ones. */
import { CHUNK_BYTES, chunkFrame, later, openMany } from './raw-session.ts';

const EVERY_MS = 100;
const SLICES = 20;

export async function pacedSessions(url: string, count: number, forMs: number): Promise<object> {
  const sessions = await openMany(url, count);
  const start = performance.now();
  let chunks = 0;
  const slice = Math.ceil(count / SLICES);
  const ticks = Math.floor(forMs / (EVERY_MS / SLICES));
  for (let tick = 0; tick < ticks; tick++) {
    // Intended times: a late tick is made up for, not skipped.
    const dueMs = tick * (EVERY_MS / SLICES);
    const aheadMs = dueMs - (performance.now() - start);
    if (aheadMs > 1) await later(aheadMs);
    const from = (tick % SLICES) * slice;
    for (const { ws, sessionId } of sessions.slice(from, from + slice)) {
      ws.send(chunkFrame(sessionId, Math.floor(tick / SLICES)));
      chunks += 1;
    }
  }
  while (sessions.some(({ ws }) => ws.bufferedAmount > 0)) await later(5);
  const seconds = (performance.now() - start) / 1_000;
  return { chunks, bytes: chunks * CHUNK_BYTES, perSecond: chunks / seconds };
}

/** Sessions that are open and do nothing. */
export async function idleSessions(url: string, count: number): Promise<object> {
  const sessions = await openMany(url, count);
  return { open: sessions.length };
}
