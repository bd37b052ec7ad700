/** The whole decision in process: bind, select, reserve, state, null transport, at four fleet sizes and 70 % busy; and with the policy fastest. */
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
  const fleets = new Map<Measured, ChildProcess>();
  const times = new Map<Measured, number[]>();
  for (const of of [...options.sizes, ...POLICIES]) {
    const [size, ...policy] = typeof of === 'number' ? [of] : [SIZE_OF_POLICIES, of];
    logLine(`decision: registering ${size} nodes ${policy}`);
    const fleet = fork(script, [`${size}`, `${options.perRound}`, ...policy]);
    fleets.set(of, fleet);
    await once(fleet, 'message');
  }
  // The sizes take turns, so that a slow minute of the machine is a slow minute for all of them.
  for (let round = 0; round < options.rounds; round++) {
    logLine(`decision: round ${round + 1} of ${options.rounds}`);
    for (const [of, fleet] of fleets) {
      fleet.send('measure');
      const [micros] = (await once(fleet, 'message')) as [number];
      times.set(of, [...(times.get(of) ?? []), micros]);
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
  const ratio = (of: Measured, to: Measured): number =>
    median((times.get(of) ?? []).map((micros, round) => micros / (times.get(to)?.[round] ?? 1)));
  return [
    ...figures,
    {
      scenario: 'decision',
      name: `cost at ${largest.toLocaleString('en-US')} ÷ at ${smallest}`,
      value: ratio(largest, smallest),
      unit: '×',
      target: { atMost: 3 },
    },
    {
      scenario: 'decision',
      name: `cost with the policy fastest ÷ default, at ${SIZE_OF_POLICIES.toLocaleString('en-US')} nodes`,
      value: ratio('fastest', 'weighted_random'),
      unit: '×',
      target: { atMost: 1.5 },
    },
  ];
}

/** A number: nodes, with the default policy. A name: that policy, with jobs from which it can learn. */
type Measured = number | (typeof POLICIES)[number];

const POLICIES = ['weighted_random', 'fastest'] as const;
const SIZE_OF_POLICIES = 1_000;
