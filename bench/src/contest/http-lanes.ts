/** HTTP requests on kept-alive connections, as many as are in flight. Raw sockets: the client must cost less than any server it measures. */
import { connect, type Socket } from 'node:net';

interface ReportedAttempt {
  readonly status: number;
  readonly body: string;
}

export interface HttpLanes {
  post(body: string): Promise<ReportedAttempt>;
}

/** More than any server here has in flight when it is long saturated. */
const MOST = 512;
/** A connection that was idle for longer is not used again: the server may be closing it. */
const MOST_IDLE_MS = 20_000;
const LENGTH = /\r\ncontent-length: *(\d+)/i;

interface Lane {
  readonly socket: Socket;
  text: string;
  idleSince: number;
  settle: (answer: ReportedAttempt) => void;
}

/** The first complete answer in `text`; answers are small and arrive whole, or nearly. */
function answerIn(text: string): ReportedAttempt | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const length = Number(LENGTH.exec(text.slice(0, end))?.[1] ?? 0);
  const body = text.slice(end + 4);
  return body.length < length ? undefined : { status: Number(text.slice(9, 12)), body };
}

const isUsable = ({ socket, idleSince }: Lane): boolean =>
  !socket.destroyed && performance.now() - idleSince < MOST_IDLE_MS;

export function createHttpLanes(port: number, path: string): HttpLanes {
  const free: Lane[] = [];
  const waiting: ((lane: Lane) => void)[] = [];
  let open = 0;
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: `;

  function give(lane: Lane): void {
    const next = waiting.shift();
    lane.idleSince = performance.now();
    if (next === undefined) free.push(lane);
    else next(lane);
  }

  function openLane(): Promise<Lane> {
    open += 1;
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      const lane: Lane = { socket, text: '', idleSince: 0, settle: () => {} };
      socket.setNoDelay(true);
      socket.on('connect', () => resolve(lane));
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        lane.text += chunk.toString('latin1');
        const answer = answerIn(lane.text);
        if (answer === undefined) return;
        lane.text = '';
        lane.settle(answer);
        give(lane);
      });
      socket.on('close', () => lane.settle({ status: 0, body: 'the connection was closed' }));
    });
  }

  function take(): Lane | Promise<Lane> {
    for (let lane = free.pop(); lane !== undefined; lane = free.pop()) {
      if (isUsable(lane)) return lane;
      lane.socket.destroy();
      open -= 1;
    }
    return open < MOST ? openLane() : new Promise((resolve) => waiting.push(resolve));
  }

  return {
    async post(body) {
      const lane = await take();
      return new Promise((resolve) => {
        lane.settle = resolve;
        lane.socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`);
      });
    },
  };
}
