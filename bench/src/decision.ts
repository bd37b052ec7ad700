/** The whole decision in process: bind, select, reserve, state, null transport, at four fleet sizes and 70 % busy. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Figure, median } from './measure.ts';
import { say } from './show.ts';

export async function decision(options: {
  sizes: readonly number[];
  rounds: number;
  perRound: number;
}): Promise<Figure[]> {
  const fleets = new Map<number, Worker>();
  const times = new Map<number, number[]>();
  for (const size of options.sizes) {
    say(`decision: registering ${size} nodes`);
    const fleet = new Worker(new URL('decision-fleet.js', import.meta.url), {
      workerData: { size, perRound: options.perRound },
    });
    fleets.set(size, fleet);
    await once(fleet, 'message');
  }
  // The sizes take turns, so that a slow minute of the machine is a slow minute for all of them.
  for (let round = 0; round < options.rounds; round++) {
    say(`decision: round ${round + 1} of ${options.rounds}`);
    for (const [size, fleet] of fleets) {
      fleet.postMessage('measure');
      const [micros] = (await once(fleet, 'message')) as [number];
      times.set(size, [...(times.get(size) ?? []), micros]);
    }
  }
  for (const fleet of fleets.values()) await fleet.terminate();
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
