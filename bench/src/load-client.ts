/**
 * Runs in its own process: sends one HTTP request over and over on many kept-alive connections, a burst at a time, as its parent
 * orders. Raw sockets and a ready-made request: the client must cost less than any server it measures. During a burst it never
 * sleeps: a server that writes to a sleeping client pays for waking it, more than the write itself costs, and how often depends on
 * how fast the server is. Arguments: port, path, body, connections. Each message is a number of requests, and is answered with their
 * results.
 */
import { connect, type Socket } from 'node:net';

export interface Burst {
  readonly errors: number;
  /** From the first request to the last answer, in milliseconds. */
  readonly tookMs: number;
  /** Of each answer, in milliseconds. */
  readonly latencies: readonly number[];
}

const [port, path, body, connections] = process.argv.slice(2) as [string, string, string, string];

const request = Buffer.from(
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
);
const LENGTH = 'content-length: ';
let latencies: number[] = [];
let errors = 0;
let unsent = 0;
let unanswered = 0;
let finish = (): void => {};

/** Answers here are small and arrive whole, or nearly: look for the end of one, by its length. */
function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const at = text.toLowerCase().indexOf(LENGTH);
  const length = Number.parseInt(text.slice(at + LENGTH.length, at + LENGTH.length + 8), 10);
  return Buffer.byteLength(text) >= end + 4 + length;
}

/** One connection; sends the next request of the burst, if there is one left. */
function open(): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(port), '127.0.0.1');
    let text = '';
    let sentAt = 0;
    const send = (): void => {
      if (unsent === 0) return;
      unsent -= 1;
      sentAt = performance.now();
      socket.write(request);
    };
    socket.setNoDelay(true);
    socket.on('connect', () => resolve(send));
    socket.on('error', reject);
    // A connection that its server closes would leave the burst unfinished.
    socket.on('close', () => process.exit(1));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!isComplete(text)) return;
      if (!text.startsWith('HTTP/1.1 200')) errors += 1;
      latencies.push(performance.now() - sentAt);
      text = '';
      unanswered -= 1;
      if (unanswered === 0) finish();
      else send();
    });
  });
}

function stayAwake(): void {
  if (unanswered > 0) setImmediate(stayAwake);
}

const lanes = await Promise.all(Array.from({ length: Number(connections) }, open));

process.on('disconnect', () => process.exit(0));
process.on('message', (requests: number) => {
  const begunAt = performance.now();
  latencies = [];
  errors = 0;
  unsent = requests;
  unanswered = requests;
  finish = () => process.send?.({ errors, tookMs: performance.now() - begunAt, latencies } satisfies Burst);
  for (const send of lanes) send();
  stayAwake();
});
process.send?.('ready');
