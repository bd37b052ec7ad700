/** Hot path: a condition on the facts of a node, evaluated for one node or for the whole fleet. */
import type { Rejection } from '../../domain/need.ts';
import type { FactTable } from './fact-table.ts';

/** A fact by its key, or facts combined. */
export type Formula = string | { readonly op: 'all' | 'any' | 'none'; readonly of: readonly Formula[] };

/** A condition, and the rejection of nodes that fail it. */
export interface Clause {
  readonly reason: Rejection;
  readonly formula: Formula;
}

export const all = (...of: Formula[]): Formula => ({ op: 'all', of });
export const any = (...of: Formula[]): Formula => ({ op: 'any', of });
export const none = (...of: Formula[]): Formula => ({ op: 'none', of });

export function holds(facts: FactTable, formula: Formula, index: number): boolean {
  if (typeof formula === 'string') return facts.has(formula, index);
  const isStop = formula.op !== 'all';
  for (const part of formula.of) {
    if (holds(facts, part, index) === isStop) return formula.op === 'any';
  }
  return formula.op !== 'any';
}

/**
 * Clears in `out` all nodes for which the formula does not hold. Used for one fleet by one thread, so the scratch bitmaps are kept
 * between calls.
 */
export type Narrow = (formula: Formula, out: Uint32Array) => void;

export function createNarrow(facts: FactTable): Narrow {
  const scratch: Uint32Array[] = [];

  function blank(depth: number, length: number, fill: number): Uint32Array {
    const known = scratch[depth];
    const words = known?.length === length ? known : new Uint32Array(length);
    scratch[depth] = words;
    return words.fill(fill);
  }

  function narrow(formula: Formula, out: Uint32Array, depth: number): void {
    if (typeof formula === 'string') {
      facts.and(formula, out);
    } else if (formula.op === 'all') {
      for (const part of formula.of) narrow(part, out, depth);
    } else {
      // No node has most wildcards, marks and blocked pairs: often one bitmap is left, or none.
      const parts = formula.of.filter((part) => typeof part !== 'string' || facts.isKnown(part));
      const only = parts.length === 1 ? parts[0] : undefined;
      if (formula.op === 'none' && parts.length === 0) return;
      if (formula.op === 'any' && only !== undefined) {
        narrow(only, out, depth);
        return;
      }
      const flip = formula.op === 'none' ? -1 : 0;
      const some = blank(depth, out.length, 0);
      for (const part of parts) widen(part, some, depth + 1);
      for (let w = 0; w < out.length; w++) out[w] = (out[w] as number) & ((some[w] as number) ^ flip);
    }
  }

  /** Sets in `out` all nodes for which the formula holds. */
  function widen(formula: Formula, out: Uint32Array, depth: number): void {
    if (typeof formula === 'string') {
      facts.or(formula, out);
    } else if (formula.op === 'any') {
      for (const part of formula.of) widen(part, out, depth);
    } else {
      const every = blank(depth, out.length, 0xffffffff);
      narrow(formula, every, depth + 1);
      for (let w = 0; w < out.length; w++) out[w] = (out[w] as number) | (every[w] as number);
    }
  }

  return (formula, out) => narrow(formula, out, 0);
}
