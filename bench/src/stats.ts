/** Seed 000 §6.2: a dashboard that polls all the time does not slow dispatch down. Taking turns on one scheduler. */
import { paceDispatch, paceStats, startBesideServer, startNodes } from './beside-rig.ts';
import { type Figure, median } from './measure.ts';
import { logLine } from './show.ts';

export interface StatsOptions {
  readonly rounds: number;
  readonly roundMs: number;
  readonly idleNodes: number;
}

const DISPATCH_RATE = 200;
const STATS_RATE = 1_000;

export async function stats({ rounds, roundMs, idleNodes }: StatsOptions): Promise<Figure[]> {
  const server = await startBesideServer(idleNodes);
  const stopNodes = await startNodes(server.port);
  const alone: number[] = [];
  const beside: number[] = [];
  const ratios: number[] = [];
  const answered: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    logLine(round === 0 ? 'stats: warming up' : `stats: round ${round} of ${rounds}`);
    const begun = await server.cpuMicros();
    const without = await paceDispatch(server.port, DISPATCH_RATE, roundMs);
    const between = await server.cpuMicros();
    const [withStats, polled] = await Promise.all([
      paceDispatch(server.port, DISPATCH_RATE, roundMs),
      paceStats(server.port, STATS_RATE, roundMs),
    ]);
    const ended = await server.cpuMicros();
    const errors = without.errors + withStats.errors + (round === 0 ? 0 : polled.errors);
    if (errors > 0) throw new Error(`${errors} requests failed`);
    if (round === 0) continue;
    alone.push(without.p99);
    beside.push(withStats.p99);
    ratios.push(withStats.p99 / without.p99);
    answered.push(polled.p99);
    cpu.push((ended - between - (between - begun)) / polled.requests);
  }
  await stopNodes();
  await server.stop();
  const load = `${DISPATCH_RATE}/s`;
  const rows: Omit<Figure, 'scenario'>[] = [
    { name: `dispatch p99 at ${load}, no stats requests`, value: median(alone), unit: 'ms' },
    { name: `dispatch p99 at ${load}, 1,000 stats requests/s beside it`, value: median(beside), unit: 'ms' },
    { name: 'dispatch p99 with stats requests ÷ without', value: median(ratios), unit: '×' },
    { name: 'stats p99 at 1,000/s', value: median(answered), unit: 'ms' },
    {
      name: `CPU per stats request, ${idleNodes.toLocaleString('en-US')} nodes shown`,
      value: median(cpu),
      unit: 'µs',
    },
  ];
  return rows.map((row) => ({ scenario: 'stats', ...row }));
}
