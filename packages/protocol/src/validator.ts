/** Compiled validation of one schema, for every value from outside. */
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { findProblem } from './find-problem.ts';
import { nameOf, type Problem, problem } from './problem.ts';

export type Validated<Value> = { ok: true; value: Value } | { ok: false; problem: Problem };
export type Validate<Value> = (value: unknown) => Validated<Value>;

/**
 * Compiles at the first call, so that importing costs nothing and a program pays only for what it receives. Where
 * code generation is forbidden (a browser's content security policy), TypeBox interprets the schema instead.
 */
export function validator<Schema extends TSchema>(schema: Schema): Validate<Static<Schema>> {
  let compiled: ReturnType<typeof Compile<Schema>> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return { ok: true, value: value as Static<Schema> };
    return { ok: false, problem: findProblem(schema, value) ?? reported(compiled.Errors(value)[0]) };
  };
}

/** Schemas of other packages may use keywords that findProblem does not know. */
const reported = (error: { instancePath: string; message: string } | undefined): Problem =>
  error === undefined
    ? problem('', 'the value is not as expected')
    : problem(error.instancePath, `${nameOf(error.instancePath)} ${error.message}`);
