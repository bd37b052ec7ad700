/** How long a node works on a job. Pure. */
import { type Chance, exponential } from './chance.ts';

export const DISTRIBUTIONS = ['fixed', 'uniform', 'exponential', 'lognormal'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

export interface ServiceTime {
  readonly distribution: Distribution;
  readonly meanMs: number;
}

/** Of the logarithm: one job in fourteen takes more than twice the mean, as long utterances do. */
const SIGMA = 0.6;

export function serviceMs({ distribution, meanMs }: ServiceTime, chance: Chance): number {
  switch (distribution) {
    case 'fixed':
      return meanMs;
    case 'uniform':
      return meanMs * (0.5 + chance());
    case 'exponential':
      return exponential(meanMs, chance);
    case 'lognormal':
      return meanMs * Math.exp(SIGMA * normal(chance) - SIGMA ** 2 / 2);
  }
}

function normal(chance: Chance): number {
  return Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
}
