/** A small real scheduler for tests: a WebSocket server that follows the test's script and records received messages. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type {
  JobAssign,
  JobResult,
  NodeHeartbeat,
  NodeRegister,
  NodeToScheduler,
  SchedulerToNode,
} from '@lingua/protocol';
import { parseNodeMessage } from '@lingua/protocol';
import { vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

export interface ScriptedScheduler {
  readonly url: string;
  readonly httpUrl: string;
  /** All received messages, in order, over all connections. */
  readonly received: NodeToScheduler[];
  /** Frames that a real scheduler would refuse. */
  readonly refused: string[];
  readonly authorizations: (string | undefined)[];
  connections(): number;
  ofType<T extends NodeToScheduler['type']>(type: T): Extract<NodeToScheduler, { type: T }>[];
  results(): JobResult[];
  registrations(): NodeRegister[];
  heartbeats(): NodeHeartbeat[];
  send(message: SchedulerToNode): void;
  sendText(text: string): void;
  assign(job?: Partial<JobAssign>): JobAssign;
  /** Closes the present connection. */
  hangUp(code: number, reason?: string): void;
  /** Breaks the connection without a close frame. */
  cut(): void;
  /** Called for each ping on the present connection. */
  onPing(listener: () => void): void;
  /** Stops reading, like a machine that lost its network. */
  freeze(): void;
  stop(): Promise<void>;
  restart(): Promise<void>;
}

export interface Script {
  readonly heartbeatIntervalMs?: number;
  readonly nodeId?: (register: NodeRegister, count: number) => string;
  /** False: the registration is not answered. */
  readonly acknowledges?: () => boolean;
  readonly onHttp?: (request: IncomingMessage, response: ServerResponse) => void;
  readonly maxPayload?: number;
}

export async function startScriptedScheduler(script: Script = {}): Promise<ScriptedScheduler> {
  const received: NodeToScheduler[] = [];
  const refused: string[] = [];
  const authorizations: (string | undefined)[] = [];
  let http: Server;
  let sockets: WebSocketServer;
  let current: { socket: WebSocket; stream: Socket } | undefined;
  let connections = 0;
  let jobs = 0;
  let port = 0;

  function serve(socket: WebSocket, request: IncomingMessage): void {
    connections += 1;
    current = { socket, stream: request.socket };
    authorizations.push(request.headers.authorization);
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const parsed = parseNodeMessage(data.toString());
      if (parsed.kind === 'invalid') refused.push(parsed.problem.message);
      else {
        received.push(parsed.message);
        if (parsed.message.type === 'node_register') acknowledge(socket, parsed.message);
      }
    });
  }

  function acknowledge(socket: WebSocket, register: NodeRegister): void {
    if (script.acknowledges?.() === false) return;
    const count = of('node_register').length;
    const ack: SchedulerToNode = {
      type: 'node_register_ack',
      node_id: script.nodeId?.(register, count) ?? register.node_id ?? 'node-given',
      message: 'welcome',
      status: 'registering',
      heartbeat_interval_ms: script.heartbeatIntervalMs ?? 60_000,
    };
    socket.send(JSON.stringify(ack));
  }

  const of = <T extends NodeToScheduler['type']>(type: T) =>
    received.filter((message) => message.type === type) as Extract<NodeToScheduler, { type: T }>[];

  async function listen(): Promise<void> {
    http = createServer(script.onHttp ?? ((_, response) => response.writeHead(404).end()));
    sockets = new WebSocketServer({ server: http, maxPayload: script.maxPayload ?? 16 * 1024 * 1024 });
    sockets.on('connection', serve);
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

  await listen();
  return {
    url: `ws://127.0.0.1:${port}/ws/node`,
    httpUrl: `http://127.0.0.1:${port}`,
    received,
    refused,
    authorizations,
    connections: () => connections,
    ofType: of,
    results: () => of('job_result'),
    registrations: () => of('node_register'),
    heartbeats: () => of('node_heartbeat'),
    send: (message) => current?.socket.send(JSON.stringify(message)),
    sendText: (text) => current?.socket.send(text),
    assign(job = {}) {
      jobs += 1;
      const assigned = jobAssign({ job_id: `job-${jobs}`, utterance_index: jobs, ...job });
      current?.socket.send(JSON.stringify(assigned));
      return assigned;
    },
    hangUp: (code, reason) => current?.socket.close(code, reason),
    cut: () => current?.socket.terminate(),
    onPing: (listener) => current?.socket.on('ping', listener),
    freeze: () => current?.stream.pause(),
    stop,
    restart: listen,
  };
}

export const jobAssign = (job: Partial<JobAssign> = {}): JobAssign => ({
  type: 'job_assign',
  job_id: 'job-1',
  attempt_id: 1,
  session_id: 's-1',
  utterance_index: 0,
  src_lang: 'en',
  tgt_lang: 'de',
  pipeline: { use_asr: true, use_nmt: true, use_tts: true },
  audio: Buffer.from('hello').toString('base64'),
  audio_format: 'pcm16',
  sample_rate: 16_000,
  trace_id: 'trace-1',
  is_manual_cut: true,
  ...job,
});

/** Waits for a condition; generous, because busy test machines are slow. */
export const until = (condition: () => boolean): Promise<boolean> =>
  vi.waitUntil(condition, { timeout: 60_000, interval: 5 });
