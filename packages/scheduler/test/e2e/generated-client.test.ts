/** A TypeScript client generated from docs/openapi.json compiles and works against a scheduler. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { startApp } from './support/start-app.ts';

const run = promisify(execFile);
const GENERATOR = join(ROOT, 'scripts/generate-client/node_modules/openapi-typescript/bin/cli.js');
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');

/** What a stranger writes; the comments make the compiler check that wrong uses are errors. */
const PROGRAM = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.ts';

export async function use(baseUrl: string) {
  const client = createClient<paths>({ baseUrl });
  const utterance: components['schemas']['TranslateRequest'] = { src_lang: 'en', tgt_lang: 'zh', audio: 'AAAAAAAAAAA=' };
  const { data, response } = await client.POST('/v1/translate', { body: utterance });
  if (data === undefined || !('text_translated' in data)) throw new Error('status ' + response.status);
  const text: string | undefined = data.text_translated;
  const job = await client.GET('/v1/job/{id}', { params: { path: { id: data.job_id }, query: { wait_ms: 0 } } });
  const refused = await client.POST('/v1/translate', { body: { ...utterance, tgt_lang: 'ko' } });
  // @ts-expect-error the path needs an id
  const missing = () => client.GET('/v1/job/{id}', {});
  // @ts-expect-error a language is text
  const wrong = () => client.POST('/v1/translate', { body: { ...utterance, src_lang: 5 } });
  return { text, state: job.data?.state, code: refused.error?.error, unused: [missing, wrong].length };
}
`;

async function generateClient(): Promise<{ use(url: string): Promise<Record<string, unknown>> }> {
  const folder = await mkdtemp(join(ROOT, 'scripts/generate-client/node_modules/.generated-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await run(process.execPath, [GENERATOR, join(ROOT, 'docs/openapi.json'), '-o', join(folder, 'api.ts')]);
  await writeFile(join(folder, 'use.ts'), PROGRAM);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const config = {
    compilerOptions: {
      target: 'ES2022',
      module: 'NodeNext',
      strict: true,
      rewriteRelativeImportExtensions: true,
      skipLibCheck: true,
      lib: ['ES2022', 'DOM', 'DOM.Iterable'],
      types: [],
    },
    files: ['use.ts'],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await run(process.execPath, [COMPILER, '-p', folder]).catch(({ stdout }) => {
    throw new Error(`the generated client does not compile:\n${stdout}`);
  });
  return import(/* @vite-ignore */ pathToFileURL(join(folder, 'use.js')).href);
}

it('a TypeScript client generated from the OpenAPI file works', async () => {
  const [{ use }, app] = await Promise.all([generateClient(), startApp()]);
  await joinSdkNode({ url: app.nodeUrl, onJob: () => OUTPUT });
  await app.readyNodes(1);
  expect(await use(app.url)).toMatchObject({
    text: OUTPUT.text_translated,
    state: 'RELEASED',
    code: 'NO_CAPABLE_NODE',
  });
});
