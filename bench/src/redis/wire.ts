/** What the server is asked, as it sees it itself: commands of clients, and calls inside their scripts. */
import { Redis } from 'ioredis';
import type { BenchRedis } from './redis-server.ts';

export interface Asked {
  /** Of each command its name and arguments. */
  readonly commands: readonly (readonly string[])[];
  /** Commands that scripts called. */
  readonly scriptCalls: number;
}

export interface Wire {
  /** Everything that is asked while `act` runs, but for what the bench itself asks. */
  during(act: () => Promise<void>): Promise<Asked>;
  stop(): void;
}

const MARK = 'bench: caught up';

export async function watchWire({ port, observer }: BenchRedis): Promise<Wire> {
  const plain = new Redis({ host: '127.0.0.1', port });
  const watcher = await plain.monitor();
  plain.disconnect();
  let commands: string[][] = [];
  let scriptCalls = 0;
  let caughtUp: () => void = () => {};
  watcher.on('monitor', (_time, args: string[], source: string) => {
    if (args[1] === MARK) caughtUp();
    else if (source === 'lua') scriptCalls += 1;
    else commands.push(args);
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
      return { commands, scriptCalls };
    },
    stop: () => watcher.disconnect(),
  };
}
