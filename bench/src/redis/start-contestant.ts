/** A contestant in its own process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Closed } from './contestant.ts';
import type { ContestantKind, Opened, Order } from './contestant-process.ts';

export interface ContestantProcess {
  closed(order: { jobs: number; inFlight: number }): Promise<Closed>;
  open(order: { rate: number; forMs: number }): Promise<Opened>;
  tidy(): Promise<void>;
  stop(): Promise<void>;
}

export async function startContestant(kind: ContestantKind, port: number): Promise<ContestantProcess> {
  const child = fork(fileURLToPath(new URL('contestant-process.js', import.meta.url)), [kind, String(port)]);
  const exited = once(child, 'exit');
  const next = async (): Promise<unknown> => {
    const answer = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
    if (answer === undefined) throw new Error(`the process of ${kind} ended`);
    return answer[0];
  };
  const ask = (order: Order): Promise<unknown> => {
    const answer = next();
    child.send(order);
    return answer;
  };
  await next();
  return {
    closed: (order) => ask({ kind: 'closed', ...order }) as Promise<Closed>,
    open: (order) => ask({ kind: 'open', ...order }) as Promise<Opened>,
    async tidy() {
      await ask({ kind: 'tidy' });
    },
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}
