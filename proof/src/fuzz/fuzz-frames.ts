/** Frames to /ws/session and /ws/node: connections that begin properly, then send anything. */
import { NODE_TO_SCHEDULER, SESSION_TO_SCHEDULER } from '@lingua/protocol';
import WebSocket from 'ws';
import { type Chance, generate, oneOf, type Schema, writeMessage } from './generate.ts';

const ROUTES = [
  { path: '/ws/session', messages: SESSION_TO_SCHEDULER as unknown as readonly Schema[] },
  { path: '/ws/node', messages: NODE_TO_SCHEDULER as unknown as readonly Schema[] },
] as const;
const AT_ONCE = 16;
const MOST_PER_CONNECTION = 400;
/** The sender waits while more is unsent. */
const MAX_UNSENT = 256 * 1024;
/** Only a hang takes longer. */
const ANSWER_MS = 60_000;

/** Resolves with the number of frames that were sent. Rejects if the server stops answering. */
export async function fuzzFrames(port: number, count: number, chance: Chance): Promise<number> {
  let sent = 0;
  const talkers = Array.from({ length: AT_ONCE }, async () => {
    while (sent < count) await talk(port, chance, () => sent++ < count);
  });
  await Promise.all(talkers);
  return count;
}

async function talk(port: number, chance: Chance, mayGoOn: () => boolean): Promise<void> {
  const { path, messages } = oneOf(chance, ROUTES);
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // Refused upgrades and resets are answers, too: the judge looks at the server.
  socket.on('error', () => {});
  const opened = new Promise<void>((resolve) => socket.once('open', resolve));
  await Promise.race([opened, closed]);
  const [opening] = messages;
  if (chance() < 0.8 && opening !== undefined) socket.send(JSON.stringify(generate(opening, chance)));
  for (let left = 1 + chance() * MOST_PER_CONNECTION; left > 0 && isOpen(socket) && mayGoOn(); left -= 1) {
    const text = writeMessage(oneOf(chance, messages), chance);
    socket.send(chance() < 0.05 ? Buffer.from(text, 'latin1') : text);
    if (socket.bufferedAmount > MAX_UNSENT) await drained(socket, closed);
  }
  await finish(socket, closed);
}

const isOpen = (socket: WebSocket): boolean => socket.readyState === WebSocket.OPEN;

/** Everything sent before was read when the pong comes. */
function drained(socket: WebSocket, closed: Promise<void>): Promise<void> {
  const pong = new Promise<void>((resolve) => socket.once('pong', () => resolve()));
  if (isOpen(socket)) socket.ping();
  return inTime(Promise.race([pong, closed]), 'no pong');
}

async function finish(socket: WebSocket, closed: Promise<void>): Promise<void> {
  if (isOpen(socket)) await drained(socket, closed);
  socket.close();
  await inTime(closed, 'the connection was not closed');
}

async function inTime(waiting: Promise<void>, otherwise: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${otherwise} within ${ANSWER_MS} ms`)), ANSWER_MS);
  });
  try {
    await Promise.race([waiting, late]);
  } finally {
    clearTimeout(timer);
  }
}
