/**
 * Runs in its own process with one contestant, so that its CPU time is its own. Arguments: kind, port of Redis. Runs a round on
 * request and returns its figures.
 */
import { percentile } from '../measure.ts';
import { createAppContestant } from './app-contestant.ts';
import { createBullmqContestant } from './bullmq-contestant.ts';
import { type Closed, type Contestant, closedLoop, openLoop } from './contestant.ts';
import { createEngineContestant } from './engine-contestant.ts';

export type ContestantKind = 'engine' | 'app' | 'bullmq';

export type Order =
  | { readonly kind: 'closed'; readonly jobs: number; readonly inFlight: number }
  | { readonly kind: 'open'; readonly rate: number; readonly forMs: number }
  | { readonly kind: 'tidy' };

export interface Opened {
  readonly p50: number;
  readonly p99: number;
}

export type Report = Closed | Opened | Record<string, never>;

const CONCURRENCY = 64;
const [kind, port] = process.argv.slice(2) as [ContestantKind, string];

const open: Record<ContestantKind, () => Promise<Contestant>> = {
  engine: () => createEngineContestant({ port: Number(port), prefix: 'engine', instanceId: 'bench' }),
  app: () => createAppContestant({ port: Number(port), prefix: 'app' }),
  bullmq: () => createBullmqContestant({ port: Number(port), prefix: 'bullmq', concurrency: CONCURRENCY }),
};
const contestant = await open[kind]();

async function obey(order: Order): Promise<Report> {
  if (order.kind === 'closed') return closedLoop(contestant, order);
  if (order.kind === 'open') {
    const sorted = await openLoop(contestant, order);
    return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
  }
  await contestant.tidy();
  return {};
}

process.on('message', (order: Order) => {
  void obey(order).then(
    (report) => process.send?.(report),
    (fault: unknown) => {
      process.stderr.write(`bench: ${kind}: ${String(fault)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
