/** Every file of examples/ works against a scheduler as it is printed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findChromium } from '../../../console/test/support/console-world.ts';
import { ROOT } from '../architecture/source-files.ts';
import { ensureBuilt } from '../e2e/support/ensure-built.ts';
import { joinSdkNode, OUTPUT } from '../e2e/support/sdk-node.ts';
import { type RunningApp, startApp } from '../e2e/support/start-app.ts';
import { eventually } from '../support/eventually.ts';
import { wavFile } from '../transport/http/wav-file.ts';

// They import the built SDK.
beforeAll(ensureBuilt, 150_000);

/** Example → what runs it. */
const NODES: readonly (readonly [string, string])[] = [
  ['node.mjs', process.execPath],
  ['node.py', '/usr/bin/python3'],
  ['curl-node.sh', 'bash'],
];
/** Nodes report how busy this machine is; a busy one gets no job. */
const ANY_LOAD = { 'scheduler.load_balancer.resource_threshold': 100 };

interface Example {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  out(): string;
}

function start(program: string, args: readonly string[], app?: RunningApp): Example {
  const child = spawn(program, args, {
    env: {
      ...process.env,
      PYTHONPATH: join(ROOT, 'packages/python/src'),
      PYTHONDONTWRITEBYTECODE: '1',
      ...(app && { LINGUA_URL: app.url, LINGUA_NODE_URL: app.nodeUrl }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
  return { child, ended: new Promise((resolve) => child.on('close', resolve)), out: () => out };
}

const example = (name: string): string => join(ROOT, 'examples', name);

describe('examples', () => {
  it('every example has a test', async () => {
    const files = (await readdir(join(ROOT, 'examples'))).sort();
    const tested = [...NODES.map(([name]) => name), 'README.md', 'browser-client', 'node-client.mjs'];
    expect(files).toEqual(tested.sort());
  });

  it.each(NODES)('%s gets a job, answers it, and leaves when it is ended', async (name, program) => {
    const app = await startApp(ANY_LOAD);
    const node = start(program, [example(name)], app);
    await app.readyNodes(1);
    const { body } = await app.post('/v1/translate', {
      src_lang: 'en',
      tgt_lang: 'de',
      audio: Buffer.alloc(32_000).toString('base64'),
    });
    expect([body.text_translated, node.out()]).toEqual([expect.stringContaining('Guten Tag'), node.out()]);
    node.child.kill('SIGTERM');
    expect([await node.ended, node.out()]).toEqual([0, node.out()]);
    await app.readyNodes(0);
  });

  it('node-client.mjs prints the translation of a recording', async () => {
    const app = await startApp();
    await joinSdkNode({ url: app.nodeUrl, onJob: async () => OUTPUT });
    const folder = await mkdtemp(join(tmpdir(), 'lingua-example-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(
      join(folder, 'hello.wav'),
      wavFile(
        Array.from({ length: 8_000 }, () => 0),
        16_000,
      ),
    );
    const client = start(process.execPath, [example('node-client.mjs'), join(folder, 'hello.wav')], app);
    expect([await client.ended, client.out()]).toEqual([0, 'hello\n你好\n']);
    const refused = start(process.execPath, [example('node-client.mjs'), example('README.md')], app);
    expect([await refused.ended, refused.out()]).toEqual([
      1,
      expect.stringMatching(/^no translation: .*wav file/),
    ]);
  });

  it('browser-client translates what the microphone records', async () => {
    const server = start(process.execPath, [example('browser-client/serve.mjs'), '0']);
    const page = await eventually(() => /^open (http:\S+)\//.exec(server.out())?.[1]);
    const app = await startApp({ 'server.allowed_origins': page });
    await joinSdkNode({ url: app.nodeUrl, onJob: async () => OUTPUT });
    const browser = await chromium.launch({
      executablePath: findChromium(),
      args: [
        ...['--no-sandbox', '--disable-gpu'],
        // Its microphone beeps.
        ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
      ],
    });
    onTestFinished(() => browser.close());
    const tab = await browser.newPage();
    await tab.goto(`${page}/?url=${app.url}`);
    await tab.getByRole('button', { name: 'Speak' }).click();
    await tab.getByText('connected', { exact: true }).waitFor();
    await eventually(
      async () =>
        (await tab.getByRole('listitem').count()) > 0 ||
        tab
          .getByRole('button', { name: 'Translate' })
          .click()
          .then(() => false),
    );
    expect(await tab.getByRole('listitem').first().textContent()).toBe('hello → 你好');
    expect((await fetch(`${page}/..%2fserve.mjs`)).status).toBe(404);
  });
});
