/**
 * Runs in its own process: sends one HTTP request at a fixed rate and measures from when each was due: a late client, or a server
 * that makes it wait, must not hide in fewer requests. Arguments: port, path, body (empty: GET), requests per second, milliseconds.
 * Prints {"requests", "errors", "p50", "p99"} (milliseconds).
 */
import { Agent, request as send } from 'node:http';
import { percentile } from './measure.ts';

const [port, path, body, rate, forMs] = process.argv.slice(2) as [string, string, string, string, string];
const agent = new Agent({ keepAlive: true, maxSockets: 128 });
const headers =
  body === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
const method = body === '' ? 'GET' : 'POST';
const latencies: number[] = [];
let errors = 0;

const sendOne = (dueAt: number): Promise<void> =>
  new Promise((resolve) => {
    const end = (isOk: boolean): void => {
      if (!isOk) errors += 1;
      latencies.push(performance.now() - dueAt);
      resolve();
    };
    const sent = send({ host: '127.0.0.1', port, path, method, headers, agent }, (answer) => {
      answer.resume();
      answer.on('end', () => end(answer.statusCode === 200));
    });
    sent.on('error', () => end(false));
    sent.end(body);
  });

const total = Math.floor((Number(rate) * Number(forMs)) / 1_000);
const start = performance.now();
const pending: Promise<void>[] = [];
while (pending.length < total) {
  const dueAt = start + (pending.length * 1_000) / Number(rate);
  if (dueAt <= performance.now()) pending.push(sendOne(dueAt));
  else await new Promise((resolve) => setTimeout(resolve, 1));
}
await Promise.all(pending);
agent.destroy();
latencies.sort((a, b) => a - b);
process.stdout.write(
  JSON.stringify({
    requests: latencies.length,
    errors,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  }),
);
