/** Plays all scenarios, several at a time, and reports them in their order. */
import type { StartProgram } from './node-program.ts';
import { playScenario, type Verdict } from './play-scenario.ts';
import type { Scenario } from './scenario.ts';

export interface Played {
  readonly name: string;
  readonly shows: string;
  readonly verdict: Verdict;
  readonly ms: number;
}

export async function runConformance(
  scenarios: readonly Scenario[],
  options: {
    readonly start: StartProgram;
    readonly patienceMs: number;
    readonly atOnce: number;
    readonly onPlayed?: (played: Played) => void;
  },
): Promise<Played[]> {
  const played: Played[] = [];
  let next = 0;
  let reported = 0;
  async function turn(): Promise<void> {
    for (let index = next++; index < scenarios.length; index = next++) {
      const { name, shows } = scenarios[index] as Scenario;
      const begunAt = performance.now();
      const verdict = await playScenario(scenarios[index] as Scenario, options);
      played[index] = { name, shows, verdict, ms: Math.round(performance.now() - begunAt) };
      for (; played[reported] !== undefined; reported += 1) options.onPlayed?.(played[reported] as Played);
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, turn));
  return played;
}
