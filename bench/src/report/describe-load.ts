/** The load of a scenario in one sentence. Pure. */
import type { Scenario } from '../scenario/scenario.ts';
import { PEERS } from '../scenario/vocabulary.ts';

const number = (value: number): string => value.toLocaleString('en-US');

const PROCESS = { poisson: 'by chance (Poisson)', uniform: 'evenly spaced', bursts: 'in bursts' } as const;

export function describeLoad(scenario: Scenario): string {
  const { fleet, arrivals, service, store, vary, measures } = scenario;
  const ends = [vary?.values[0] ?? 0, vary?.values.at(-1) ?? 0];
  const range = [...new Set(ends)].map(number).join(' to ');
  const nodes = vary?.field === 'nodes' ? range : number(fleet.nodes);
  const rate = `${number(arrivals.rate)}/s${measures === 'sessions' ? ' of each session' : ''}`;
  return [
    `${nodes} nodes × ${number(fleet.slots)} slots`,
    ...(fleet.busy > 0 ? [`${Math.round(fleet.busy * 100)} % busy`] : []),
    ...(vary?.field === 'instances' ? [`${range} instances`] : []),
    ...(vary?.field === 'sessions' ? [`${range} sessions`] : []),
    store === 'redis' ? 'on Redis' : 'in memory',
    ...(measures === 'decisions' ? [] : [`${rate}, ${PROCESS[arrivals.process]}`]),
    ...(service.meanMs > 0 ? [`service ${service.distribution}, mean ${number(service.meanMs)} ms`] : []),
    ...(scenario.mix.length > 1 ? [`${scenario.mix.length} kinds of jobs`] : []),
    ...(scenario.peers.length > 0
      ? [`next to ${scenario.peers.map((peer) => PEERS[peer].title).join(', ')}`]
      : []),
  ].join(', ');
}
