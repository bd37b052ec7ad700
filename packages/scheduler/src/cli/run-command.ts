/** Finds the command by its name, or lists the commands. */

import { nearestName } from '../config/nearest-name.ts';
import { type CommandIo, createProcessIo } from './command-io.ts';
import { runCluster } from './commands/cluster.ts';
import { runConfig } from './commands/config.ts';
import { runDemo } from './commands/demo.ts';
import { runDlq } from './commands/dlq.ts';
import { runExplain } from './commands/explain.ts';
import { runCancel, runJob, runJobs } from './commands/jobs.ts';
import { runCordon, runDrain, runNode, runNodes, runUncordon } from './commands/nodes.ts';
import { runPlan } from './commands/plan.ts';
import { runPools } from './commands/pools.ts';
import { runServe } from './commands/serve.ts';
import { runSessions } from './commands/sessions.ts';
import { runSpeechNode } from './commands/speech-node.ts';
import { runToken } from './commands/token.ts';
import { runUsage } from './commands/usage.ts';
import { runTalk } from './simulated-client/run-talk.ts';
import { runSimulatedNode } from './simulated-node/run-simulated-node.ts';
import { VERSION } from './version.ts';

type Command = (argv: readonly string[], io: CommandIo) => Promise<number>;

const COMMANDS: ReadonlyMap<string, { run: Command; summary: string }> = new Map([
  ['serve', { run: runServe, summary: 'run the scheduler' }],
  ['demo', { run: runDemo, summary: 'run the scheduler with a small simulated fleet (npm start)' }],
  ['simulate', { run: runSimulatedNode, summary: 'connect simulated GPU nodes to a scheduler' }],
  ['talk', { run: runTalk, summary: 'let simulated people talk through a scheduler' }],
  [
    'speech-node',
    {
      run: runSpeechNode,
      summary: 'connect a real node: recognition, translation and speech on this machine',
    },
  ],
  ['cluster', { run: runCluster, summary: 'show all instances of a scheduler and their work' }],
  ['nodes', { run: runNodes, summary: 'list the nodes of all instances' }],
  ['node', { run: runNode, summary: 'show one node: capabilities, missing services, last attempts' }],
  ['cordon', { run: runCordon, summary: 'stop giving a node new jobs' }],
  ['uncordon', { run: runUncordon, summary: 'resume giving a node new jobs' }],
  ['drain', { run: runDrain, summary: 'stop giving a node new jobs and let it finish the running ones' }],
  ['jobs', { run: runJobs, summary: 'list jobs, also by outcome and reason' }],
  ['job', { run: runJob, summary: 'show one job and its history' }],
  ['cancel', { run: runCancel, summary: 'cancel a job' }],
  ['sessions', { run: runSessions, summary: 'list the sessions of an instance' }],
  [
    'dlq',
    {
      run: runDlq,
      summary: 'list, show, replay or purge messages between instances that could not be handled',
    },
  ],
  ['explain', { run: runExplain, summary: 'show which node a job would get now, and why not another' }],
  ['pools', { run: runPools, summary: 'show the pools of nodes and the state of each' }],
  ['usage', { run: runUsage, summary: 'show what tenants have used' }],
  ['plan', { run: runPlan, summary: 'compute how many nodes and instances a load needs' }],
  ['token', { run: runToken, summary: 'make keys and short-lived tokens, or show what a token says' }],
  ['config', { run: runConfig, summary: 'print the effective configuration and where each value came from' }],
]);

const USAGE = `Usage: lingua COMMAND [options]

${[...COMMANDS].map(([name, { summary }]) => `  ${name.padEnd(11)} ${summary}`).join('\n')}

lingua COMMAND --help explains a command. lingua --version prints the version.`;

export async function runCommand(
  argv: readonly string[],
  io: CommandIo = createProcessIo(),
): Promise<number> {
  const [name, ...rest] = argv;
  if (name === '--version' || name === '-v' || name === 'version') {
    io.out(VERSION);
    return 0;
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    io.out(USAGE);
    return name === undefined ? 2 : 0;
  }
  const command = COMMANDS.get(name);
  if (command !== undefined) return command.run(rest, io);
  const near = nearestName(name, [...COMMANDS.keys()]);
  io.err(`lingua: there is no command "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}`);
  io.err(USAGE);
  return 2;
}
