/** Compiled validation of one schema, for every edge where a value comes from outside. */
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { describe, type Problem } from './problem.ts';

export type Validated<Value> = { ok: true; value: Value } | { ok: false; problem: Problem };
export type Validate<Value> = (value: unknown) => Validated<Value>;

/**
 * Compiles at the first call, so that importing costs nothing and a program pays only for what it receives.
 * Where code may not be made from strings (a browser's content security policy), TypeBox interprets the schema instead.
 */
export function validator<Schema extends TSchema>(schema: Schema): Validate<Static<Schema>> {
  let compiled: ReturnType<typeof Compile<Schema>> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return { ok: true, value: value as Static<Schema> };
    return { ok: false, problem: describe(schema, value, compiled.Errors(value)) };
  };
}
