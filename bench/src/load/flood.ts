/** As many chunks as the server takes: a batch, a heartbeat, and the next batch when the heartbeat is answered. */
import { chunkFrame, heartbeatFrame, later, openMany, type RawSession } from './raw-session.ts';

const BATCH = 20;

export async function floodSessions(url: string, count: number, forMs: number): Promise<object> {
  const sessions = await openMany(url, count);
  let chunks = 0;
  let isOver = false;

  function play(session: RawSession): void {
    let seq = 0;
    const send = (): void => {
      for (let i = 0; i < BATCH; i++) session.ws.send(chunkFrame(session.sessionId, seq++));
      session.ws.send(heartbeatFrame(session.sessionId));
    };
    session.onText = (text) => {
      if (!text.includes('heartbeat')) return;
      if (!isOver) {
        chunks += BATCH;
        send();
      }
    };
    send();
  }

  const start = performance.now();
  for (const session of sessions) play(session);
  await later(forMs);
  isOver = true;
  const seconds = (performance.now() - start) / 1_000;
  for (const { ws } of sessions) ws.terminate();
  return { chunks, perSecond: chunks / seconds };
}
