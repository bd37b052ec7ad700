/** The npm packages, installed from their tarballs in an empty folder outside the repository, on every supported Node.js. */
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { eventually } from '../support/eventually.ts';
import { cleanEnv, installPackages, nodeOf, run } from './support/packed.ts';

const SLOW_MS = 600_000;
/** The older one checks only what is used of the declarations: all of them take it a minute. */
const COMPILERS = [
  { name: 'TypeScript 7', compiler: 'node_modules/typescript/bin/tsc', skipLibCheck: false },
  {
    name: 'TypeScript 5',
    compiler: 'scripts/generate-client/node_modules/typescript/bin/tsc',
    skipLibCheck: true,
  },
];

/** What a package may contain: no programs, no models, no weights. */
const KINDS = /\.(js|d\.ts|lua|json|ya?ml|html|css|svg|md|toml|txt|service|conf|cfg)$/;
/** The voice detection of the Talk page (MIT) is the only model: users fetch those of the speech node themselves. */
const FILES = /^package\/LICENSE$|\/Caddyfile$|\/console\/assets\/silero_vad_v5-[\w-]+\.onnx$/;
const isKnown = (name: string): boolean => KINDS.test(name) || FILES.test(name);

let folder: string;
let files: readonly string[];
let printed: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, files, printed, remove } = await installPackages());
}, SLOW_MS);
afterAll(() => remove());

it('npm prints no warning about the packages, such as a wrong version of Node.js', () => {
  // A warning about npm's own configuration depends on the machine.
  const warnings = printed.split('\n').filter((line) => /warn|error/i.test(line));
  expect(warnings.filter((line) => !/Unknown (user|env|project|builtin|global) config/.test(line))).toEqual(
    [],
  );
  expect(printed).toMatch(/added \d+ packages/);
});

it('every tarball has licence and README, and only files of known kinds', async () => {
  for (const file of files) {
    const { stdout } = await run('tar', ['-tzf', file], { maxBuffer: 16 * 1024 * 1024 });
    const names = stdout.trim().split('\n');
    expect(names).toEqual(expect.arrayContaining(['package/LICENSE', 'package/README.md']));
    expect(names.filter((name) => !isKnown(name) || /\.test\.js$|tsbuildinfo/.test(name))).toEqual([]);
  }
});

describe.each([20, 22, 24])('Node.js %i', (major) => {
  /** A program in the folder, until the test ends. */
  const start = (...command: readonly string[]) => {
    const [program = '', ...args] = command;
    const child = spawn(program, args, { cwd: folder, env: cleanEnv(major), detached: true });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    onTestFinished(() => {
      // npx starts the command as a process of its own.
      const isRunning = child.exitCode === null && child.signalCode === null;
      if (isRunning && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    });
    return { out: () => out, err: () => err, ended, child };
  };

  const startDemo = async () => {
    const demo = start('npx', 'lingua', 'demo', '--port', '0');
    const url = await eventually(() => /listens on (http\S+)/.exec(demo.out())?.[1]);
    return { demo, url };
  };

  const translate = async (url: string, target: string) => {
    const answer = await fetch(`${url}/v1/translate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ src_lang: 'en', tgt_lang: target, audio: 'AAAAAAAAAAA=' }),
    });
    return [answer.status, (await answer.json()) as Record<string, unknown>] as const;
  };

  it(
    'npx lingua demo translates, serves the console, and ends with Ctrl-C',
    async () => {
      const { demo, url } = await startDemo();
      expect((await run(nodeOf(major), ['--version'])).stdout).toMatch(`v${major}.`);
      expect(await translate(url, 'zh')).toMatchObject([200, { text_translated: expect.any(String) }]);
      const page = await fetch(`${url}/`);
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
      // As a terminal does: to every process of the group.
      process.kill(-(demo.child.pid ?? 0), 'SIGINT');
      await demo.ended;
      expect(demo.err().replaceAll(/^npm warn Unknown .*\n/gm, '')).toBe('');
    },
    SLOW_MS,
  );

  it(
    // Whether it gets a job depends on how busy this machine is: it reports that.
    'the node of the README registers',
    async () => {
      const { url } = await startDemo();
      const [, source = ''] =
        /^```js\n(.*?)^```$/ms.exec(await readFile(join(ROOT, 'README.md'), 'utf8')) ?? [];
      await writeFile(join(folder, 'my-node.mjs'), source.replace('127.0.0.1:5010', new URL(url).host));
      const node = start('node', 'my-node.mjs');
      await eventually(() => node.out() === 'registered\n');
      expect(node.err()).toBe('');
    },
    SLOW_MS,
  );

  it(
    'the Node.js client of the SDK README prints the translation of a recording',
    async () => {
      const { url } = await startDemo();
      const readme = await readFile(join(ROOT, 'packages/sdk/README.md'), 'utf8');
      const source = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)]
        .map(([, text = '']) => text)
        .find((text) => text.includes("'hello.wav'"));
      await writeFile(join(folder, 'my-client.mjs'), (source ?? '').replace('http://127.0.0.1:5010', url));
      await writeFile(join(folder, 'hello.wav'), oneSecond());
      const client = start('node', 'my-client.mjs');
      expect(await client.ended).toBe(0);
      expect([client.out().trim().split('\n').length, client.err()]).toEqual([1, '']);
      expect(client.out()).toMatch(/^\S+ \S+/);
    },
    SLOW_MS,
  );
});

describe.each(COMPILERS)('$name', ({ compiler, skipLibCheck }) => {
  const compile = async (source: string, options: object): Promise<string> => {
    await writeFile(join(folder, 'use.ts'), source);
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { strict: true, noEmit: true, skipLibCheck, target: 'es2022', ...options },
        files: ['use.ts'],
      }),
    );
    return run(process.execPath, [join(ROOT, compiler), '-p', folder]).then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    );
  };
  const inNode = { types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] };
  const inBrowser = { types: [], lib: ['ES2022', 'DOM', 'DOM.Iterable'] };

  it.each([
    ['node16', { module: 'node16', moduleResolution: 'node16' }],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
  ])(
    'the types of all packages are found and checked with moduleResolution %s',
    async (_name, options) => {
      expect(await compile(EVERYTHING, { ...options, ...inNode })).toBe('');
    },
    SLOW_MS,
  );

  it(
    'the client needs no types of Node.js, and a wrong option is an error',
    async () => {
      const options = { module: 'esnext', moduleResolution: 'bundler', ...inBrowser };
      expect(await compile(CLIENT, options)).toBe('');
      expect(await compile(CLIENT.replace("srcLang: 'en'", 'srcLang: 5'), options)).toContain('error TS2322');
    },
    SLOW_MS,
  );
});

const CLIENT = `
import { openSession, type Session } from '@lingua/sdk/client';
export const session: Session = openSession({ url: 'https://scheduler.example', srcLang: 'en', tgtLang: 'de' });
session.on('result', ({ textTranslated }) => console.log(textTranslated.length));
`;
const EVERYTHING = `
import { type JobAssign, parseSchedulerToNode, TranslateRequest, validator } from '@lingua/protocol';
import { createApp, createLog, loadConfig } from '@lingua/scheduler';
import { openSession } from '@lingua/sdk/client';
import { createNode, JobError } from '@lingua/sdk/node';
export const idOf = (job: JobAssign): string => job.job_id;
export { createApp, createLog, createNode, JobError, loadConfig, openSession, parseSchedulerToNode, TranslateRequest, validator };
`;

/** Silence, 16-bit mono at 16 kHz. */
function oneSecond(): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + 32_000, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(16_000, 24);
  header.writeUInt32LE(32_000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(32_000, 40);
  return Buffer.concat([header, Buffer.alloc(32_000)]);
}
