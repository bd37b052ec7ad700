/** A child process that answers one request at a time, so that its CPU, memory and pauses are its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Child {
  /** Its answer when it was ready. */
  readonly ready: unknown;
  ask(order: object): Promise<unknown>;
  stop(): Promise<void>;
}

/** `script` lies beside this file. */
export async function startChild(script: string, about: object): Promise<Child> {
  const path = fileURLToPath(new URL(`${script}.js`, import.meta.url));
  const child = fork(path, [JSON.stringify(about)]);
  const exited = once(child, 'exit');
  async function next(): Promise<unknown> {
    const answer = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
    if (answer === undefined) throw new Error(`the process of ${script} ended`);
    return answer[0];
  }
  const ready = await next();
  return {
    ready,
    ask(order) {
      const answer = next();
      child.send(order);
      return answer;
    },
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/** In the child: its arguments. */
export const startedWith = <T>(): T => JSON.parse(process.argv[2] ?? '{}') as T;

/** In the child: reports `ready`, answers every request, and ends with its parent. */
export function serve<Order>(ready: object, obey: (order: Order) => Promise<object>): void {
  process.on('message', (order: Order) => {
    void obey(order).then(
      (report) => process.send?.(report),
      (fault: unknown) => {
        process.stderr.write(`bench: ${fault instanceof Error ? fault.stack : String(fault)}\n`);
        process.exit(1);
      },
    );
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.(ready);
}
