/** The scheduler of a scenario: a real WebSocket and HTTP server that does what the steps say, and records. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { parseNodeMessage } from '@lingua/protocol';
import { type WebSocket, WebSocketServer } from 'ws';

export type Message = Readonly<Record<string, unknown>> & { readonly type: string };

export interface Received {
  readonly message: Message;
  /** Counted from 1. */
  readonly connection: number;
  isTaken: boolean;
}

/** One HTTP answer; without one, a path is answered with 404. */
export interface Served {
  readonly path: string;
  readonly status?: number;
  readonly text?: string;
  /** Base64. */
  readonly bytes?: string;
  readonly location?: string;
  /** Never answered. */
  readonly hangs?: boolean;
}

export interface Fetched {
  readonly path: string;
  readonly authorization: string | undefined;
}

export interface UpgradeRefusal {
  readonly status: number;
  readonly body?: unknown;
  /** How many upgrades are refused; all without it. */
  readonly times?: number;
}

/** For the tests of the suite: what a broken node would send or receive instead. */
export interface Tampering {
  fromNode?(message: Message, connection: number): readonly Message[];
  toNode?(text: string): readonly string[];
  /** What is missing now will not come any more. */
  isOver?(): boolean;
}

export interface ScriptedScheduler {
  readonly url: () => string;
  readonly httpUrl: () => string;
  readonly received: readonly Received[];
  /** Frames that no scheduler would accept. */
  readonly invalid: readonly string[];
  readonly fetched: readonly Fetched[];
  readonly authorizations: readonly (string | undefined)[];
  connections(): number;
  /** The close code of the present connection; undefined while it is open. */
  closeCode(): number | undefined;
  send(text: string): void;
  close(code: number, reason: string): void;
  cut(): void;
  /** Stops reading, like a machine that lost its network. */
  freeze(): void;
  listen(): Promise<void>;
  stopListening(): Promise<void>;
  refuseUpgrades(refusal: UpgradeRefusal): void;
  serve(answer: Served): void;
  /** Resolves when the node has answered a ping; false if the connection ended first. */
  barrier(): Promise<boolean>;
}

const MOST_BYTES = 64 * 1024 * 1024;

export async function startScriptedScheduler(
  changed: () => void,
  tampering: Tampering = {},
): Promise<ScriptedScheduler> {
  const received: Received[] = [];
  const invalid: string[] = [];
  const fetched: Fetched[] = [];
  const authorizations: (string | undefined)[] = [];
  const answers = new Map<string, Served>();
  let refusal: UpgradeRefusal | undefined;
  let refused = 0;
  let connections = 0;
  let current: { socket: WebSocket; stream: Socket; code: number | undefined; isFrozen: boolean } | undefined;
  let http: Server;
  let sockets: WebSocketServer;
  let port = 0;

  function greet(socket: WebSocket, request: IncomingMessage): void {
    connections += 1;
    const number = connections;
    const own = { socket, stream: request.socket, code: undefined as number | undefined, isFrozen: false };
    current = own;
    authorizations.push(request.headers.authorization);
    socket.on('error', () => {});
    socket.on('close', (code) => {
      own.code = code;
      changed();
    });
    socket.on('message', (data, isBinary) => {
      // ws reads what a paused stream has buffered when it is cut.
      if (own.isFrozen) return;
      if (isBinary) invalid.push('a binary frame');
      else take(data.toString(), number);
      changed();
    });
    changed();
  }

  function take(text: string, connection: number): void {
    const parsed = parseNodeMessage(text);
    if (parsed.kind === 'invalid') {
      invalid.push(`${parsed.type ?? text.slice(0, 200)}: ${parsed.problem.message}`);
      return;
    }
    const messages = tampering.fromNode?.(parsed.message as Message, connection) ?? [
      parsed.message as Message,
    ];
    for (const message of messages) received.push({ message, connection, isTaken: false });
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    fetched.push({ path, authorization: request.headers.authorization });
    const { status = 200, text = '', bytes, location, hangs } = answers.get(path) ?? { status: 404 };
    changed();
    if (hangs === true) return;
    const body = bytes === undefined ? Buffer.from(text) : Buffer.from(bytes, 'base64');
    response.writeHead(status, { 'content-length': body.length, ...(location && { location }) }).end(body);
  }

  function upgrade(request: IncomingMessage, stream: Socket, head: Buffer): void {
    stream.on('error', () => {});
    if (refusal !== undefined && refused < (refusal.times ?? Number.POSITIVE_INFINITY)) {
      refused += 1;
      const body = Buffer.from(JSON.stringify(refusal.body ?? {}));
      const heading = `HTTP/1.1 ${refusal.status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
      stream.end(Buffer.concat([Buffer.from(heading), body]));
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => greet(socket, request));
  }

  async function listen(): Promise<void> {
    http = createServer(answer).on('upgrade', upgrade);
    sockets = new WebSocketServer({ noServer: true, maxPayload: MOST_BYTES });
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    port = (http.address() as AddressInfo).port;
  }

  await listen();
  return {
    url: () => `ws://127.0.0.1:${port}/ws/node`,
    httpUrl: () => `http://127.0.0.1:${port}`,
    received,
    invalid,
    fetched,
    authorizations,
    connections: () => connections,
    closeCode: () => current?.code,
    send(text) {
      for (const sent of tampering.toNode?.(text) ?? [text]) current?.socket.send(sent);
    },
    close: (code, reason) => current?.socket.close(code, reason),
    cut: () => current?.socket.terminate(),
    freeze() {
      if (current === undefined) return;
      current.isFrozen = true;
      current.stream.pause();
    },
    listen,
    async stopListening() {
      for (const socket of sockets.clients) socket.terminate();
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
    refuseUpgrades(next) {
      refusal = next;
      refused = 0;
    },
    serve: (served) => void answers.set(served.path, served),
    barrier() {
      const socket = current?.socket;
      if (socket === undefined || socket.readyState !== socket.OPEN) return Promise.resolve(false);
      return new Promise((resolve) => {
        // Pongs of a node's own liveness carry other data.
        const data = `barrier-${Math.trunc(performance.now() * 1e6)}`;
        socket.on('pong', (echo) => echo.toString() === data && resolve(true));
        socket.once('close', () => resolve(false));
        socket.ping(data);
      });
    },
  };
}
