/**
 * Hot path: Fastify parses bodies with the protocol's parser (null is absent, no prototype keys, bounded nesting) and
 * validates with its compiled validators, so that sockets and HTTP accept the same input.
 */
import { type Problem, parseJson, queryValidator, type Validate, validator } from '@lingua/protocol';
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';

type ObjectSchema = Parameters<typeof queryValidator>[0];

export const compileValidator: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  const validate: Validate<unknown> =
    httpPart === 'querystring' ? queryValidator(schema as ObjectSchema) : validator(schema as ObjectSchema);
  return (data: unknown) => {
    // An absent body counts as empty: fine if all fields are optional, otherwise the error names the missing field.
    const validated = validate(data ?? {});
    return validated.ok ? { value: validated.value } : { error: new InvalidInput(validated.problem) };
  };
};

export class InvalidInput extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.name = 'InvalidInput';
    this.problem = problem;
  }
}

export function parseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    // Some clients send a content type without a body.
    if (body === '') return done(null, undefined);
    const parsed = parseJson(body as string);
    if (parsed.ok) done(null, parsed.value);
    else done(new InvalidInput(parsed.problem), undefined);
  });
}

/** Bodies that are not JSON, as buffers. */
export function parseBytes(app: FastifyInstance): void {
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
