/** All mutants. */
import type { Mutant } from '../mutant.ts';
import { ALONE_MUTANTS } from './alone.ts';
import { TOGETHER_MUTANTS } from './together.ts';

export const MUTANTS: readonly Mutant[] = [...ALONE_MUTANTS, ...TOGETHER_MUTANTS];
