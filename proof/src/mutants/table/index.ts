/** All mutants. */
import type { Mutant } from '../mutant.ts';
import { HEDGE_MUTANTS } from './hedges.ts';
import { MULTI_INSTANCE_MUTANTS } from './multi-instance.ts';
import { ROOM_MUTANTS } from './rooms.ts';
import { SINGLE_INSTANCE_MUTANTS } from './single-instance.ts';
import { STAGE_MUTANTS } from './stages.ts';

export const MUTANTS: readonly Mutant[] = [
  ...SINGLE_INSTANCE_MUTANTS,
  ...MULTI_INSTANCE_MUTANTS,
  ...STAGE_MUTANTS,
  ...ROOM_MUTANTS,
  ...HEDGE_MUTANTS,
];
