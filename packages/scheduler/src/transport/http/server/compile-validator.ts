/** Lets Fastify validate with the protocol's compiled validators, so that sockets and HTTP judge alike. */
import { queryValidator, type Validate, validator } from '@lingua/protocol';
import type { FastifySchemaCompiler } from 'fastify';
import { InvalidInput } from './invalid-input.ts';

type ObjectSchema = Parameters<typeof queryValidator>[0];

export const compileValidator: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  const validate: Validate<unknown> =
    httpPart === 'querystring' ? queryValidator(schema as ObjectSchema) : validator(schema as ObjectSchema);
  return (data: unknown) => {
    // No body is an empty one: where all fields are optional that is fine, elsewhere the missing field is named.
    const validated = validate(data ?? {});
    return validated.ok ? { value: validated.value } : { error: new InvalidInput(validated.problem) };
  };
};
