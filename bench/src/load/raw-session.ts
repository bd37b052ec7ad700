/** A minimal session: ready-made frames on a WebSocket, so that the load costs less than what it measures. */
import WebSocket from 'ws';

export const CHUNK_BYTES = 3_000;
const PAYLOAD = Buffer.alloc(CHUNK_BYTES, 0x5a).toString('base64');

export interface RawSession {
  readonly ws: WebSocket;
  readonly sessionId: string;
  /** Called with every frame. */
  onText: (text: string) => void;
}

const INIT = JSON.stringify({
  type: 'session_init',
  client_version: 'bench',
  platform: 'web',
  src_lang: 'en',
  tgt_lang: 'zh',
  supports: ['result_ack', 'utterance_accepted', 'backpressure', 'server_draining'],
});

/** An echo server answers with the frame itself; a scheduler with the id of a session. */
export function openRaw(url: string): Promise<RawSession> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(`${url}/ws/session`, { perMessageDeflate: false, skipUTF8Validation: true });
    ws.on('error', reject);
    ws.on('open', () => ws.send(INIT));
    ws.once('message', (data: Buffer) => {
      const { session_id: sessionId = 's-echo' } = JSON.parse(data.toString()) as { session_id?: string };
      const session: RawSession = { ws, sessionId, onText: () => {} };
      ws.on('message', (frame: Buffer) => session.onText(frame.toString()));
      resolve(session);
    });
  });
}

export async function openMany(url: string, count: number): Promise<RawSession[]> {
  const sessions: RawSession[] = [];
  for (let at = 0; at < count; at += 100) {
    const batch = Math.min(100, count - at);
    sessions.push(...(await Promise.all(Array.from({ length: batch }, () => openRaw(url)))));
  }
  return sessions;
}

export const chunkFrame = (
  sessionId: string,
  seq: number,
  more: { isFinal?: boolean; requestId?: string } = {},
): string =>
  `{"type":"audio_chunk","session_id":"${sessionId}","seq":${seq},"is_final":${more.isFinal ?? false},` +
  `${more.requestId === undefined ? '' : `"request_id":"${more.requestId}",`}"payload":"${PAYLOAD}"}`;

export const heartbeatFrame = (sessionId: string): string =>
  `{"type":"client_heartbeat","session_id":"${sessionId}","timestamp":1}`;

export const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
