/** The command `lingua simulate`: simulated nodes until Ctrl-C. */
import { readFileSync } from 'node:fs';
import type { NodeLog } from '@lingua/sdk/node';
import { STAGES } from '../../domain/stage.ts';
import { type CommandIo, interruption } from '../command-io.ts';
import { parseFlags } from '../parse-flags.ts';
import { NAMED_BEHAVIOURS, type Share } from './behaviour.ts';
import { BEHAVIOUR_NAMES, BEHAVIOUR_USAGE } from './behaviour-usage.ts';
import { readBehaviour } from './read-behaviour.ts';
import { createSimulatedFleet, type FleetCounts, type FleetOptions } from './simulated-fleet.ts';

export const SIMULATED_NODE_USAGE = `Usage: lingua simulate [options]

Connects simulated nodes to a scheduler and answers its jobs, until Ctrl-C.

  --url URL          socket of the scheduler (ws://127.0.0.1:5010/ws/node)
  --token TOKEN      token of a node, if the scheduler requires one
  --count N          how many nodes (1)
  --languages LIST   what they understand (en,zh,de,fr,es,ja,ko)
  --stages LIST      what they do of the work: some of asr, semantic, nmt, tts (all)
  --slots N          jobs each takes at once (4)
  --behaviour FILE   TOML or JSON file, or one of ${BEHAVIOUR_NAMES} (healthy)
  --seed N           the same seed repeats the same behaviour (1)
  --json             progress as JSON lines
  --help             this text

${BEHAVIOUR_USAGE}`;

const PROGRESS_MS = 3_000;

export async function runSimulatedNode(
  argv: readonly string[],
  io: CommandIo,
  { progressMs = PROGRESS_MS }: { readonly progressMs?: number } = {},
): Promise<number> {
  const command = readCommand(argv);
  if (command.kind === 'help') {
    io.out(SIMULATED_NODE_USAGE);
    return 0;
  }
  if (command.kind === 'invalid') {
    for (const problem of command.problems) io.err(`lingua simulate: ${problem}`);
    return 2;
  }
  const fleet = createSimulatedFleet({ ...command.fleet, log: logTo(io) });
  const show = command.isJson ? JSON.stringify : line;
  if (!command.isJson) io.out(`${command.fleet.count} simulated nodes → ${command.fleet.url} (Ctrl-C ends)`);
  const progress = setInterval(() => io.out(show(fleet.counts())), progressMs);
  // A node that is stopped before it was registered rejects here, which is expected.
  fleet.start().then(
    () => io.out(show(fleet.counts())),
    () => {},
  );
  await interruption(io);
  clearInterval(progress);
  const last = fleet.counts();
  await fleet.stop();
  io.out(show({ ...last, running: 0, up: 0 }));
  return 0;
}

type Command =
  | { readonly kind: 'run'; readonly fleet: FleetOptions; readonly isJson: boolean }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

function readCommand(argv: readonly string[]): Command {
  const flags = parseFlags(argv, FLAGS);
  if (typeof flags === 'string') return { kind: 'invalid', problems: [flags] };
  const parsed = flags.values;
  if (parsed.help) return { kind: 'help' };
  const problems: string[] = [];
  const whole = (name: 'count' | 'slots' | 'seed', min: number, max: number): number => {
    const value = Number(parsed[name]);
    if (!Number.isInteger(value) || value < min || value > max)
      problems.push(`--${name} must be a whole number from ${min} to ${max}`);
    return value;
  };
  const count = whole('count', 1, 10_000);
  const slots = whole('slots', 1, 10_000);
  const seed = whole('seed', 0, 2 ** 31);
  if (!/^wss?:\/\//.test(parsed.url) || !URL.canParse(parsed.url))
    problems.push('--url must start with ws:// or wss://');
  const languages = parsed.languages
    .split(',')
    .map((tag) => tag.trim().toLowerCase())
    .filter((tag) => tag !== '');
  if (languages.length === 0 || languages.some((tag) => !/^[a-z0-9-]{2,35}$/.test(tag)))
    problems.push('--languages must be a list such as en,zh,de');
  const named = parsed.stages.split(',').map((name) => name.trim());
  const stages = STAGES.filter((stage) => named.includes(stage));
  if (stages.length === 0 || named.some((name) => !(STAGES as readonly string[]).includes(name)))
    problems.push(`--stages must be a list of some of ${STAGES.join(', ')}`);
  const mix = loadBehaviour(parsed.behaviour, problems);
  if (problems.length > 0) return { kind: 'invalid', problems };
  return {
    kind: 'run',
    isJson: parsed.json,
    fleet: {
      url: parsed.url,
      token: parsed.token,
      count,
      slots,
      seed,
      languages,
      stages,
      mix,
    },
  };
}

const FLAGS = {
  url: { type: 'string', default: 'ws://127.0.0.1:5010/ws/node' },
  token: { type: 'string' },
  count: { type: 'string', default: '1' },
  languages: { type: 'string', default: 'en,zh,de,fr,es,ja,ko' },
  stages: { type: 'string', default: STAGES.join(',') },
  slots: { type: 'string', default: '4' },
  behaviour: { type: 'string', default: 'healthy' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function loadBehaviour(name: string, problems: string[]): readonly Share[] {
  const named = Object.hasOwn(NAMED_BEHAVIOURS, name) ? NAMED_BEHAVIOURS[name] : undefined;
  if (named !== undefined) return [{ share: 1, behaviour: named }];
  let text: string;
  try {
    text = readFileSync(name, 'utf8');
  } catch (error) {
    problems.push(unreadable(name, error));
    return [];
  }
  const file = readBehaviour(text);
  if (file.kind === 'mix') return file.mix;
  problems.push(...file.problems.map((problem) => `${name}: ${problem}`));
  return [];
}

function unreadable(name: string, error: unknown): string {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  if (isMissing)
    return `--behaviour ${name} is no file and none of the built-in ones: ${BEHAVIOUR_NAMES} (--help explains the file)`;
  return `--behaviour ${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}

const line = (counts: FleetCounts): string =>
  `nodes ${counts.up}/${counts.nodes} · running ${counts.running} · done ${counts.done} · failed ${counts.failed}` +
  `${counts.silent > 0 ? ` · silent ${counts.silent}` : ''}${counts.crashes > 0 ? ` · crashes ${counts.crashes}` : ''}`;

/** Only what a person at the terminal must know, without simulated failures. */
function logTo(io: CommandIo): NodeLog {
  const quiet = (): void => {};
  const printed = new Set<string>();
  return {
    debug: quiet,
    info: quiet,
    warn: (fields, message) => {
      if (!(fields.error instanceof Error) || fields.job_id !== undefined) return;
      // A fleet without a scheduler reports it once, not once per node and try.
      const text = `${message}: ${reasonOf(fields.error)}`;
      if (printed.has(text)) return;
      printed.add(text);
      io.err(`lingua simulate: ${text}; trying again`);
    },
    error: (fields, message) => io.err(`lingua simulate: ${message} ${JSON.stringify(fields)}`),
  };
}

/** A refused connection is an AggregateError without a message. */
const reasonOf = (error: Error): string =>
  error.message || ('code' in error ? String(error.code) : error.name);
