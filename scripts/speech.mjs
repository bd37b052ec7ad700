// Starts everything for a conversation on this machine: npm run speech -- [--port N] [--spanish] [--yes] [--set KEY=VALUE ...]
// On Debian it installs what is missing (it asks before, except in CI), fetches the recognition model once, and starts the
// scheduler and two speech nodes.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const LINGUA = `${root}/packages/scheduler/bin/lingua.js`;
const SPEECH_NODE = `${root}/packages/speech-node/bin/lingua-speech-node.js`;
const MODES = '/usr/share/apertium/modes';
/** A file → the Debian package that has it, and its licence. */
const NEEDED = [
  ['/usr/bin/espeak-ng', 'espeak-ng', 'GPL-3.0'],
  [`${MODES}/eng-spa.mode`, 'apertium-eng-spa', 'GPL-2.0'],
  [`${MODES}/eng-cat.mode`, 'apertium-eng-cat', 'GPL-3.0'],
  [`${MODES}/en-eo.mode`, 'apertium-eo-en', 'GPL-2.0'],
  [`${MODES}/es-pt.mode`, 'apertium-es-pt', 'GPL-2.0'],
  [`${MODES}/es-fr.mode`, 'apertium-fr-es', 'GPL-2.0'],
  [`${MODES}/spa-ita.mode`, 'apertium-spa-ita', 'GPL-2.0'],
  [`${MODES}/es-gl.mode`, 'apertium-es-gl', 'GPL-2.0'],
];
const APT = ['apt-get', 'install', '--no-install-recommends'];
const READY_POLL_MS = 100;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '5010' },
    spanish: { type: 'boolean' },
    yes: { type: 'boolean' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const children = [];
let isEnding = false;

await installPrograms();
fetchModel();
const at = `127.0.0.1:${values.port}`;
process.on('SIGINT', end);
process.on('SIGTERM', end);
start('scheduler', LINGUA, [
  'serve',
  '--port',
  values.port,
  // The nodes share this machine with the browser and with each other; their slots limit their work.
  ...['log.level=warn', 'scheduler.load_balancer.resource_threshold=100', ...values.set].flatMap(
    (setting) => ['--set', setting],
  ),
]);
await until(async () => (await fetch(`http://${at}/health/live`)).ok);
const workers = Math.max(1, Math.floor(availableParallelism() / 2));
for (const id of ['speech-1', 'speech-2'])
  start(id, SPEECH_NODE, [
    ...['--url', `ws://${at}/ws/node`, '--id', id, '--workers', String(workers)],
    ...(values.spanish ? ['--spanish'] : []),
  ]);
await until(async () => {
  const { nodes } = await (await fetch(`http://${at}/api/v1/nodes`)).json();
  return nodes.filter(({ status }) => status === 'ready').length === 2;
});
if (!isEnding)
  console.log(`
Open the console in a browser, choose "Talk", and speak English:

  http://${at}/

Everything runs on this machine. Translation into Spanish, Catalan and Esperanto is direct; into Portuguese, French, Italian and
Galician (text only) it leads through Spanish. Ctrl-C ends.
`);

async function installPrograms() {
  const missing = NEEDED.filter(([file]) => !existsSync(file));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  if (!existsSync('/etc/debian_version') || !existsSync('/usr/bin/apt-get')) {
    console.error(
      `speech: this is not Debian; install these programs in your system's way, then run this again: ${packages.join(', ')} (Apertium's language pairs in ${MODES})`,
    );
    process.exit(1);
  }
  console.log('These packages of Debian are missing:');
  for (const [, name, licence] of missing) console.log(`  ${name} (${licence})`);
  asRoot('apt-get', 'update', '-q');
  const { stdout } = spawnSync(APT[0], [...APT.slice(1), '--assume-no', ...packages], { encoding: 'utf8' });
  for (const line of stdout.split('\n').filter((text) => /^(Need to get|After this)/.test(text)))
    console.log(`  ${line}`);
  if (!values.yes && process.env.CI === undefined && !(await isConfirmed())) {
    console.error(`speech: nothing was installed; the command is: ${APT.join(' ')} ${packages.join(' ')}`);
    process.exit(1);
  }
  if (!asRoot(...APT, '-y', '-q', ...packages)) {
    console.error(`speech: apt-get failed; its last lines say why. Packages: ${packages.join(' ')}`);
    process.exit(1);
  }
}

async function isConfirmed() {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Install them? [y/N] ');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function fetchModel() {
  const args = [SPEECH_NODE, '--set-up', ...(values.spanish ? ['--spanish'] : [])];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function asRoot(...command) {
  const [program, ...args] = [...(process.getuid?.() === 0 ? [] : ['sudo']), ...command];
  return spawnSync(program, args, { stdio: 'inherit' }).status === 0;
}

function start(name, file, args) {
  if (isEnding) return;
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => console.log(`[${name}] ${line}`));
  child.on('exit', (status) => {
    if (isEnding) return;
    console.error(`speech: ${name} ended with ${status}`);
    process.exitCode = 1;
    end();
  });
  children.push(child);
}

/** Nodes first, so that they leave a scheduler that still answers. */
function end() {
  if (isEnding) return;
  isEnding = true;
  for (const child of children.toReversed()) child.kill('SIGTERM');
}

async function until(check) {
  while (!isEnding && !(await check().catch(() => false)))
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
}
