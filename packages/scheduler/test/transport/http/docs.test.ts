/** The OpenAPI document describes the replies with standard keywords only. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { startApp } from '../../e2e/support/start-app.ts';

interface Operation {
  readonly parameters?: readonly { readonly schema: object }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: object }>>;

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
}

async function startDocumented() {
  const app = await startApp();
  const { body } = await app.get<Document>('/docs/json');
  return { ...app, ...body };
}

const operationsOf = (paths: Record<string, Record<string, Operation>>) =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  );

it('every operation describes its successful reply', async () => {
  const { paths } = await startDocumented();
  for (const { name, operation } of operationsOf(paths)) {
    expect(Object.keys(operation.responses['200']?.content ?? {}), name).toHaveLength(1);
  }
});

it('metrics and events are declared with their media types', async () => {
  const { paths, url, dispatch, post } = await startDocumented();
  const declared = (path: string) => Object.keys(paths[path]?.get?.responses['200']?.content ?? {});
  expect(declared('/metrics')).toEqual(['text/plain']);
  const metrics = await fetch(`${url}/metrics`);
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/);

  expect(declared('/v1/job/{id}/events')).toEqual(['text/event-stream']);
  await post('/v1/node/register', {
    node_id: 'node-1',
    health: 'ready',
    semantic_langs: ['en'],
    nmt_pairs: [['en', 'zh']],
    tts_langs: ['zh'],
  });
  const { job_id: jobId } = await dispatch();
  const events = await fetch(`${url}/v1/job/${jobId}/events`);
  expect(events.headers.get('content-type')).toMatch(/^text\/event-stream/);
  await events.body?.cancel();
});

it('a strict validator accepts every schema', async () => {
  const { components, paths } = await startDocumented();
  // A format defined by OpenAPI.
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    strictTypes: false,
    formats: { binary: true },
  });
  const moved = (schema: object) =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"openapi#/$defs/'));
  ajv.addSchema({ $id: 'openapi', $defs: moved(components.schemas) });
  const compile = (schema: object) => ajv.compile(moved(schema));
  for (const name of Object.keys(components.schemas)) {
    expect(() => compile({ $ref: `#/components/schemas/${name}` }), name).not.toThrow();
  }
  for (const { name, operation } of operationsOf(paths)) {
    const contents = [
      operation.requestBody?.content,
      ...Object.values(operation.responses).map((it) => it.content),
    ];
    const bodies = contents.flatMap((content) => Object.values(content ?? {}));
    for (const { schema } of [...(operation.parameters ?? []), ...bodies]) {
      expect(() => compile(schema), name).not.toThrow();
    }
  }
});
