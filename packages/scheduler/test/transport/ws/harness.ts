/** A real server on a free port with fake services, and clients that record received messages. */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { SchedulerToNode } from '@lingua/protocol';
import { vi } from 'vitest';
import WebSocket, { type ClientOptions } from 'ws';
import { createNodeSockets } from '../../../src/transport/ws/node-sockets.ts';
import {
  createSocketServer,
  type SocketRoute,
  type SocketServerDeps,
  type SocketSettings,
} from '../../../src/transport/ws/socket-server.ts';
import {
  createFakeGate,
  createFakeJobs,
  createFakeLog,
  createFakeMeter,
  createFakeRegistry,
} from './fakes.ts';
import { createSteppedClock } from './stepped-clock.ts';

export const SETTINGS: SocketSettings = {
  pingIntervalMs: 15_000,
  maxInvalidMessages: 3,
  maxBufferedBytes: 256 * 1024,
  maxDroppedMessages: 5,
  maxWaitingMessages: 8,
  maxWaitingBytes: 1024 * 1024,
  closeTimeoutMs: 5_000,
  maxNodeMessageBytes: 64 * 1024,
  registrationDeadlineMs: 10_000,
};

/** Accepts no sessions; tests of sessions bring their own route. */
const NO_SESSIONS: SocketRoute = {
  path: '/ws/session',
  kind: 'session',
  role: 'client',
  maxMessageBytes: 64 * 1024,
  open: () => ({ receive() {}, left() {}, ended() {} }),
};

export interface HarnessOptions {
  readonly settings?: Partial<SocketSettings>;
  readonly maxConnections?: number;
  /** Messages of one connection before it exceeds its rate. */
  readonly messages?: number;
  readonly deps?: Partial<Pick<SocketServerDeps, 'isDraining' | 'onPartial' | 'session'>>;
}

export async function startHarness(options: HarnessOptions = {}) {
  const clock = createSteppedClock();
  const registry = createFakeRegistry();
  const jobs = createFakeJobs();
  const meter = createFakeMeter();
  const log = createFakeLog();
  const gate = createFakeGate({
    maxConnections: options.maxConnections ?? 100,
    messages: options.messages ?? 10_000,
  });
  const sockets = createNodeSockets({ clock });
  const http = createServer((_, response) => response.writeHead(404).end());
  const connections: Socket[] = [];
  http.on('connection', (socket) => connections.push(socket));
  let traces = 0;
  const server = createSocketServer({
    server: http,
    registry,
    jobs,
    gate,
    sockets,
    meter,
    log,
    clock,
    ids: { traceId: () => `trace-${++traces}` },
    isDraining: () => false,
    session: NO_SESSIONS,
    ...options.deps,
    settings: { ...SETTINGS, ...options.settings },
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const clients: WebSocket[] = [];

  function dial(path = '/ws/node', clientOptions: ClientOptions = {}): WebSocket {
    const ws = new WebSocket(`ws://127.0.0.1:${port}${path}`, clientOptions);
    clients.push(ws);
    return ws;
  }

  return {
    clock,
    registry,
    jobs,
    meter,
    log,
    gate,
    sockets,
    server,
    port,
    connections,
    /** An open connection. */
    async connect(path?: string, clientOptions?: ClientOptions): Promise<Client> {
      const ws = dial(path, clientOptions);
      const client = createClient(ws);
      await new Promise<void>((resolve, reject) => {
        ws.once('open', () => resolve());
        ws.once('error', reject);
      });
      return client;
    },
    /** The HTTP reply to a refused upgrade. */
    refusal(path?: string, clientOptions?: ClientOptions): Promise<Refusal> {
      const ws = dial(path, clientOptions);
      return new Promise((resolve, reject) => {
        ws.once('open', () => reject(new Error('the socket was accepted')));
        ws.on('error', () => {});
        ws.once('unexpected-response', (_, response) => {
          let text = '';
          response.on('data', (part) => {
            text += part;
          });
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: text === '' ? undefined : JSON.parse(text),
            }),
          );
        });
      });
    },
    async stop(): Promise<void> {
      for (const client of clients) client.terminate();
      for (const connection of connections) connection.destroy();
      await server.close();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}

export type Harness = Awaited<ReturnType<typeof startHarness>>;

interface Refusal {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

export interface Client {
  readonly ws: WebSocket;
  readonly received: SchedulerToNode[];
  readonly closed: Promise<{ code: number; reason: string }>;
  send(message: unknown): void;
  /** The received message at that position, as soon as it has arrived. */
  message(at: number): Promise<SchedulerToNode & Record<string, unknown>>;
}

function createClient(ws: WebSocket): Client {
  const received: SchedulerToNode[] = [];
  ws.on('message', (data) => received.push(JSON.parse(data.toString())));
  ws.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  return {
    ws,
    received,
    closed,
    send: (message) => ws.send(typeof message === 'string' ? message : JSON.stringify(message)),
    message: (at) =>
      vi.waitFor(
        () => {
          const found = received[at];
          if (found === undefined) throw new Error(`message ${at} has not arrived`);
          return found as SchedulerToNode & Record<string, unknown>;
        },
        { timeout: 60_000, interval: 2 },
      ),
  };
}

/** Resolves when the condition is true. */
export const until = (isTrue: () => boolean): Promise<void> =>
  vi.waitFor(
    () => {
      if (!isTrue()) throw new Error(`not yet: ${isTrue}`);
    },
    { timeout: 60_000, interval: 2 },
  );
