/** What the server executes, as it reports itself: commands of clients, and calls inside their scripts. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import type { BenchRedis } from './redis-server.ts';

export interface Sent {
  /** Of each command its name and arguments. */
  readonly commands: readonly (readonly string[])[];
  /** Commands that scripts called. */
  readonly scriptCalls: number;
}

export interface Wire {
  /** All commands while `act` runs, except the bench's own. */
  during(act: () => Promise<void>): Promise<Sent>;
  stop(): void;
}

const MARK = 'bench: caught up';

export async function watchWire({ port, observer }: BenchRedis): Promise<Wire> {
  // A raw connection: the client library fails on a server that is busy when watching begins.
  const socket = createConnection({ host: '127.0.0.1', port });
  const lines = createInterface({ input: socket });
  let commands: string[][] = [];
  let scriptCalls = 0;
  let caughtUp: () => void = () => {};
  const begun = once(lines, 'line');
  socket.write('MONITOR\r\n');
  const [first] = (await begun) as [string];
  if (first !== '+OK') throw new Error(`Redis cannot be watched: ${first}`);
  lines.on('line', (line) => {
    if (line.includes(MARK)) caughtUp();
    else if (/^\+\S+ \[\d+ lua\]/.test(line)) scriptCalls += 1;
    else commands.push(wordsOf(line));
  });

  /** Until the server has shown everything that was sent before. */
  async function catchUp(): Promise<void> {
    const shown = new Promise<void>((resolve) => {
      caughtUp = resolve;
    });
    await observer.echo(MARK);
    await shown;
  }

  return {
    async during(act) {
      await catchUp();
      commands = [];
      scriptCalls = 0;
      await act();
      await catchUp();
      // Later commands are not part of it.
      const sent = { commands, scriptCalls };
      commands = [];
      return sent;
    },
    stop() {
      lines.close();
      socket.destroy();
    },
  };
}

/** `+1700000000.000001 [0 127.0.0.1:1234] "evalsha" "…"`: every argument in quotes, with escapes, of which keys have none. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word);
