/** The whole decision in process: bind, select, reserve, state, null transport, at four fleet sizes and 70 % busy. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Figure, median } from './measure.ts';
import { logLine } from './show.ts';

export async function decision(options: {
  sizes: readonly number[];
  rounds: number;
  perRound: number;
}): Promise<Figure[]> {
  const script = fileURLToPath(new URL('decision-fleet.js', import.meta.url));
  const fleets = new Map<number, ChildProcess>();
  const times = new Map<number, number[]>();
  for (const size of options.sizes) {
    logLine(`decision: registering ${size} nodes`);
    const fleet = fork(script, [String(size), String(options.perRound)]);
    fleets.set(size, fleet);
    await once(fleet, 'message');
  }
  // The sizes take turns, so that a slow minute of the machine is a slow minute for all of them.
  for (let round = 0; round < options.rounds; round++) {
    logLine(`decision: round ${round + 1} of ${options.rounds}`);
    for (const [size, fleet] of fleets) {
      fleet.send('measure');
      const [micros] = (await once(fleet, 'message')) as [number];
      times.set(size, [...(times.get(size) ?? []), micros]);
    }
  }
  for (const fleet of fleets.values()) fleet.disconnect();
  const cost = (size: number): number => median(times.get(size) ?? []);
  const figures = options.sizes.map(
    (size): Figure => ({
      scenario: 'decision',
      name: `dispatches at ${size.toLocaleString('en-US')} nodes`,
      value: 1e6 / cost(size),
      unit: '/s per core',
      ...(size === 1_000 && { target: { atLeast: 150_000 } }),
    }),
  );
  const smallest = options.sizes[0] ?? 0;
  const largest = options.sizes.at(-1) ?? 0;
  const ratios = (times.get(largest) ?? []).map(
    (micros, round) => micros / (times.get(smallest)?.[round] ?? 1),
  );
  return [
    ...figures,
    {
      scenario: 'decision',
      name: `cost at ${largest.toLocaleString('en-US')} ÷ at ${smallest}`,
      value: median(ratios),
      unit: '×',
      target: { atMost: 3 },
    },
  ];
}
