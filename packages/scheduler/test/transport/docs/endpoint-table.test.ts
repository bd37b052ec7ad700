/** Every entry of the endpoint table has what routes, OpenAPI and generated clients need. */
import { HTTP_ENDPOINTS, queryValidator, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { startApp } from '../../e2e/support/start-app.ts';

/** Their ids are made by the scheduler, so an example cannot name one. */
const GENERATED_IDS: ReadonlySet<unknown> = new Set([
  'JobPath',
  'RoomPath',
  'RoomMemberPath',
  'AudioPath',
  'SessionPath',
  'DeadLetterPath',
]);

type ObjectSchema = Parameters<typeof queryValidator>[0];
const titleOf = (schema: object): unknown => (schema as { title?: unknown }).title;

describe.each(HTTP_ENDPOINTS)('$method $path', (endpoint) => {
  const { operationId, summary, params, query, body, reply, mediaType, example } = endpoint;

  it('has an operationId of a verb in camel case, and a summary', () => {
    expect(operationId).toMatch(/^[a-z]+([A-Z][a-z0-9]*)*$/);
    expect(summary).not.toBe('');
  });

  it('has the schema or the media type of its reply', () => {
    expect(reply === undefined).toBe(mediaType !== undefined);
  });

  it('has a valid example of what it needs', () => {
    const isGenerated = params !== undefined && GENERATED_IDS.has(titleOf(params));
    if (params !== undefined && !isGenerated) {
      expect(validator(params)(example?.params)).toMatchObject({ ok: true });
    }
    if (query !== undefined && example?.query !== undefined) {
      const text = Object.fromEntries(
        Object.entries(example.query).map(([name, value]) => [name, `${value}`]),
      );
      expect(queryValidator(query as ObjectSchema)(text)).toMatchObject({ ok: true });
    }
    if (body !== undefined) expect(validator(body)(example?.body)).toMatchObject({ ok: true });
  });
});

it('no two endpoints have the same operationId', () => {
  const ids = HTTP_ENDPOINTS.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

it('the server has a route for every endpoint of the table', async () => {
  const { url } = await startApp();
  for (const { method, path, isStream } of HTTP_ENDPOINTS) {
    // The live feed ends only if it is asked to.
    const search = isStream === true ? '?once=true' : '';
    const response = await fetch(url + path.replace(/:\w+/g, 'absent') + search, { method });
    const body = await response.text();
    expect(body, `${method} ${path}`).not.toMatch(/there is no such path|is not possible here/);
  }
});
