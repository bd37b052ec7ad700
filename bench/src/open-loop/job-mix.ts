/** What each job is, by the mix of a scenario. Pure but for the chance it is given. */
import type { Scenario } from '../scenario/scenario.ts';
import type { Chance } from './chance.ts';
import { serviceMs } from './service-time.ts';

export interface Job {
  readonly tenant: string;
  readonly priority: 'high' | 'normal' | 'low';
  readonly source: string;
  readonly target: string;
  /** How long a node works on it. */
  readonly serviceMs: number;
}

/** The languages of one node of the fleet: every node begins one language after the node before. */
export function languagesOf({ fleet }: Pick<Scenario, 'fleet'>, index: number): readonly string[] {
  const { languages, languagesPerNode } = fleet;
  return Array.from(
    { length: languagesPerNode },
    (_, offset) => languages[(index + offset) % languages.length] ?? '',
  );
}

export function createJobMix(
  scenario: Pick<Scenario, 'fleet' | 'mix' | 'service'>,
  chance: Chance,
): () => Job {
  const { mix, fleet, service } = scenario;
  const whole = mix.reduce((sum, { share }) => sum + share, 0);
  const pick = () => {
    let left = chance() * whole;
    for (const entry of mix) {
      left -= entry.share;
      if (left < 0) return entry;
    }
    return mix[mix.length - 1];
  };
  return () => {
    const { tenant = 'default', priority = 'normal', pair } = pick() ?? {};
    // A pair that some node has: its first language into another of the same node.
    const first = Math.floor(chance() * Math.min(fleet.nodes, fleet.languages.length));
    const [source = '', ...others] = languagesOf({ fleet }, first);
    const target = others[Math.floor(chance() * others.length)] ?? '';
    return { tenant, priority, ...(pair ?? { source, target }), serviceMs: serviceMs(service, chance) };
  };
}
