/** The command `lingua-speech-node`, also `lingua speech-node`. */
import { readFileSync } from 'node:fs';
import { createSpeechNode } from '../node/create-speech-node.ts';
import { checkEngines, printCheck } from './check.ts';
import { closeEngines, modelsFor, openEngines } from './open-engines.ts';
import { type Options, readOptions, USAGE } from './read-options.ts';
import { runSetUp } from './set-up-command.ts';
import type { Terminal } from './terminal.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** Returns the exit status: 0, 1 if something could not be done, 2 if it was called wrongly. */
export async function runSpeechNode(argv: readonly string[], terminal: Terminal): Promise<number> {
  const options = readOptions(argv, terminal.env);
  if (typeof options === 'string') {
    terminal.err(`lingua speech-node: ${options}`);
    return 2;
  }
  if (options.action === 'help') {
    terminal.out(USAGE);
    return 0;
  }
  try {
    if (options.action === 'set-up') return await runSetUp(modelsFor(options), terminal);
    return await (options.action === 'check' ? check(options, terminal) : run(options, terminal));
  } catch (error) {
    terminal.err(`lingua speech-node: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

async function check(options: Options, terminal: Terminal): Promise<number> {
  const engines = await openEngines(options, terminal.env);
  try {
    const lines = await checkEngines(engines);
    for (const line of printCheck(lines)) terminal.out(line);
    const failed = lines.filter(({ fault }) => fault !== undefined).length;
    terminal.out(failed === 0 ? `All ${lines.length} work.` : `${failed} of ${lines.length} failed.`);
    return failed === 0 ? 0 : 1;
  } finally {
    await closeEngines(engines);
  }
}

async function run(options: Options, terminal: Terminal): Promise<number> {
  const { url, token, nodeId, slots, stages } = options;
  terminal.out('Loading the engines ...');
  const engines = await openEngines(options, terminal.env);
  const node = createSpeechNode({
    engines,
    stages,
    version,
    url,
    token,
    nodeId,
    maxConcurrentJobs: slots,
    onStatus: (status, reason) => {
      if (status === 'registering') return;
      terminal.out(`Node ${node.nodeId() ?? ''}: ${status}${reason === undefined ? '' : ` (${reason})`}`);
    },
  });
  try {
    const ended = new Promise<void>((resolve) => {
      if (terminal.interrupted.aborted) resolve();
      else terminal.interrupted.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([node.start(), ended]);
    if (!terminal.interrupted.aborted)
      terminal.out(`Registered at ${url} as ${node.nodeId()}: ${stages.join(', ')}, ${slots} at once.`);
    await ended;
  } finally {
    await node.stop();
    await closeEngines(engines);
  }
  return 0;
}
