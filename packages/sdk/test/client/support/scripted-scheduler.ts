/** A small real scheduler for sessions: a WebSocket server that follows the test's script and records received messages. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  type AudioChunk,
  parseSessionMessage,
  type SchedulerToSession,
  type SessionInit,
  type SessionInitAck,
  type SessionToScheduler,
} from '@lingua/protocol';
import { vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

export interface ScriptedScheduler {
  readonly url: string;
  /** All received messages, in order, over all connections. */
  readonly received: SessionToScheduler[];
  /** Frames that a real scheduler would refuse. */
  readonly refused: string[];
  /** Path and query of each connection. */
  readonly requests: string[];
  /** Path and query of each HTTP request. */
  readonly checks: string[];
  connections(): number;
  /** Of the present connection, or of all. */
  ofType<T extends SessionToScheduler['type']>(
    type: T,
    which?: 'here' | 'ever',
  ): Extract<SessionToScheduler, { type: T }>[];
  /** The chunks of the present connection in short form: seq, text, and ! where an utterance ends. */
  chunksHere(): string[];
  send(message: SchedulerToSession): void;
  sendText(text: string): void;
  sendBinary(bytes: Uint8Array): void;
  hangUp(code: number, reason?: string): void;
  /** Breaks the connection without a close frame. */
  cut(): void;
  /** Stops reading, like a machine that lost its network. */
  freeze(): void;
  /** Resolves when the client has received everything so far, and its answers have been read here. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
  restart(): Promise<void>;
}

export interface Script {
  /** The answer to session_init; undefined: none. Default: a session of its own, resumed on request. */
  readonly answer?: (init: SessionInit, count: number) => SchedulerToSession | undefined;
  /** An HTTP status that refuses the upgrade. */
  readonly refuseUpgrade?: () => number | undefined;
  /** The answer to GET /v1/check; default: 503, as from a proxy. */
  readonly answerCheck?: (url: string) => { readonly status: number; readonly body: unknown };
  /** Called for each message after it was recorded. */
  readonly onMessage?: (message: SessionToScheduler, reply: (message: SchedulerToSession) => void) => void;
}

export const ackOf = (sessionId: string, more: Partial<SessionInitAck> = {}): SessionInitAck => ({
  type: 'session_init_ack',
  session_id: sessionId,
  message: 'welcome',
  trace_id: 'trace-1',
  protocol_version: '1.0',
  use_binary_frame: false,
  negotiated_channel_count: 1,
  resume_token: `token-of-${sessionId}`,
  ...more,
});

const resumeOrOpen = (init: SessionInit, count: number): SessionInitAck =>
  init.resume_session_id !== undefined && init.resume_token === `token-of-${init.resume_session_id}`
    ? ackOf(init.resume_session_id, { resumed: true })
    : ackOf(`s-${count}`);

/** Each session_init opens a new session. */
export const neverResumes = (_: SessionInit, count: number): SessionInitAck => ackOf(`s-${count}`);

export const textOf = (chunk: AudioChunk): string =>
  Buffer.from(chunk.payload ?? '', 'base64').toString() + (chunk.is_final ? '!' : '');

export async function startScriptedScheduler(script: Script = {}): Promise<ScriptedScheduler> {
  const received: SessionToScheduler[] = [];
  const refused: string[] = [];
  const requests: string[] = [];
  const checks: string[] = [];
  let http: Server;
  let sockets: WebSocketServer;
  let current: { socket: WebSocket; stream: Socket; received: SessionToScheduler[] } | undefined;
  let connections = 0;
  let sessions = 0;
  let port = 0;

  function serve(socket: WebSocket, request: IncomingMessage): void {
    connections += 1;
    const here: SessionToScheduler[] = [];
    current = { socket, stream: request.socket, received: here };
    requests.push(request.url ?? '');
    const reply = (message: SchedulerToSession): void => socket.send(JSON.stringify(message));
    socket.on('error', () => {});
    socket.on('message', (data) => {
      // A message left over from a broken connection would arrive without its predecessors.
      if (socket.readyState !== socket.OPEN) return;
      const parsed = parseSessionMessage(data.toString());
      if (parsed.kind === 'invalid') refused.push(`${parsed.problem.path} ${parsed.problem.message}`);
      else {
        received.push(parsed.message);
        here.push(parsed.message);
        if (parsed.message.type === 'session_init') {
          sessions += 1;
          const answer = (script.answer ?? resumeOrOpen)(parsed.message, sessions);
          if (answer !== undefined) reply(answer);
        }
        script.onMessage?.(parsed.message, reply);
      }
    });
  }

  async function listen(): Promise<void> {
    http = createServer((request, response) => {
      checks.push(request.url ?? '');
      const { status, body } = script.answerCheck?.(request.url ?? '') ?? { status: 503, body: {} };
      response.writeHead(status, { 'access-control-allow-origin': '*' }).end(JSON.stringify(body));
    });
    sockets = new WebSocketServer({ noServer: true });
    http.on('upgrade', (request, stream, head) => {
      const status = script.refuseUpgrade?.();
      // The client may end the connection first.
      stream.on('error', () => {});
      if (status === undefined)
        sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, request));
      else stream.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`);
    });
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    port = (http.address() as AddressInfo).port;
  }

  async function stop(): Promise<void> {
    for (const socket of sockets.clients) socket.terminate();
    current = undefined;
    sockets.close();
    http.closeAllConnections();
    await new Promise<void>((resolve) => http.close(() => resolve()));
  }

  const ofType: ScriptedScheduler['ofType'] = (type, which = 'here') =>
    (which === 'ever' ? received : (current?.received ?? [])).filter(
      (message) => message.type === type,
    ) as never;

  await listen();
  return {
    url: `ws://127.0.0.1:${port}/ws/session`,
    received,
    refused,
    requests,
    checks,
    connections: () => connections,
    ofType,
    chunksHere: () => ofType('audio_chunk').map((chunk) => `${chunk.seq}${textOf(chunk)}`),
    send: (message) => current?.socket.send(JSON.stringify(message)),
    sendText: (text) => current?.socket.send(text),
    sendBinary: (bytes) => current?.socket.send(bytes),
    hangUp: (code, reason) => current?.socket.close(code, reason),
    cut: () => current?.socket.terminate(),
    freeze: () => current?.stream.pause(),
    caughtUp: () =>
      new Promise((resolve) => {
        // Both sides read frames in order, and a WebSocket answers pings itself.
        current?.socket.once('pong', () => resolve());
        current?.socket.ping();
      }),
    stop,
    restart: listen,
  };
}

/** Waits for a condition; generous, because busy test machines are slow. */
export const until = (condition: () => boolean): Promise<boolean> =>
  vi.waitUntil(condition, { timeout: 60_000, interval: 5 });
