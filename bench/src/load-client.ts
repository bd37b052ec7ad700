/**
 * A process of its own that sends one HTTP request over and over on many kept-alive connections and counts the answers.
 * Raw sockets and a ready-made request: the client must cost less than any server it measures.
 * Arguments: port, path, body, connections, milliseconds. Prints {"requests", "errors", "p50", "p99"} (milliseconds).
 */
import { connect } from 'node:net';
import { percentile } from './measure.ts';

const [port, path, body, connections, forMs] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];

const request = Buffer.from(
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
);
const LENGTH = 'content-length: ';
const latencies: number[] = [];
let errors = 0;
let isOver = false;

/** Answers here are small and arrive whole, or nearly: look for the end of one, by its length. */
function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const at = text.toLowerCase().indexOf(LENGTH);
  const length = Number.parseInt(text.slice(at + LENGTH.length, at + LENGTH.length + 8), 10);
  return Buffer.byteLength(text) >= end + 4 + length;
}

function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    let sentAt = 0;
    const send = (): void => {
      sentAt = performance.now();
      socket.write(request);
    };
    socket.setNoDelay(true);
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!isComplete(text)) return;
      if (!text.startsWith('HTTP/1.1 200')) errors += 1;
      latencies.push(performance.now() - sentAt);
      text = '';
      if (!isOver) {
        send();
        return;
      }
      socket.destroy();
      resolve();
    });
  });
}

setTimeout(() => {
  isOver = true;
}, Number(forMs));
await Promise.all(Array.from({ length: Number(connections) }, run));
latencies.sort((a, b) => a - b);
process.stdout.write(
  JSON.stringify({
    requests: latencies.length,
    errors,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  }),
);
