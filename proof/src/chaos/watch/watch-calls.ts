/** Reads the commands that the servers of Redis run (MONITOR): how many scripts, and which instance writes to which (I8, I9). */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { readCall, type SendingScript, type SentMessage } from './monitored-calls.ts';

export interface CallWatch {
  seen(): { readonly scripts: number; readonly messages: readonly SentMessage[] };
  stop(): void;
}

const HOST = '127.0.0.1';
/** Reconnects to a server that was away. */
const AGAIN_MS = 100;
/** Bytes kept of a line: sender and receiver are at its beginning, and messages may carry audio. */
const MOST_CHARS = 65_536;

const FOLDER = new URL('../../../../packages/scheduler/dist/adapters/redis/inbox/', import.meta.url);

export function sendingScript(name = 'send-messages'): SendingScript {
  const text = readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8');
  return { name, digest: createHash('sha1').update(text).digest('hex') };
}

/** Of all servers, masters or not: replicas report no scripts. */
export function watchCalls(ports: readonly number[]): CallWatch {
  const sending = sendingScript();
  const messages: SentMessage[] = [];
  const sockets = new Set<Socket>();
  let scripts = 0;
  let isWatching = true;

  function read(line: string): void {
    const call = readCall(line, sending);
    if (call === undefined) return;
    scripts += 1;
    messages.push(...call.messages);
  }

  function watch(port: number): void {
    if (!isWatching) return;
    const socket = connect(port, HOST);
    sockets.add(socket);
    // Whatever cannot be read as such is escaped.
    socket.setEncoding('latin1');
    socket.on('connect', () => socket.write('MONITOR\r\n'));
    let rest = '';
    socket.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()?.slice(0, MOST_CHARS) ?? '';
      for (const line of lines) read(line.slice(0, MOST_CHARS));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      setTimeout(() => watch(port), AGAIN_MS).unref();
    });
  }

  for (const port of ports) watch(port);
  return {
    seen: () => ({ scripts, messages }),
    stop() {
      isWatching = false;
      for (const socket of sockets) socket.destroy();
    },
  };
}
