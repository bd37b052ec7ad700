/** The command line of the speech node. Pure. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { STAGES, type Stage } from '../node/chain-of-job.ts';

export interface Options {
  readonly action: 'run' | 'check' | 'set-up' | 'help';
  readonly url: string;
  readonly token: string | undefined;
  readonly nodeId: string | undefined;
  readonly slots: number;
  readonly workers: number;
  readonly stages: readonly Stage[];
  readonly isSpanishWanted: boolean;
  readonly enginesFile: string | undefined;
}

export const USAGE = `Usage: lingua speech-node [options]        (or: lingua-speech-node [options])

Connects a node that recognises, repairs, translates and speaks on this machine: Moonshine for speech recognition (English; Spanish
if you accept its licence), Apertium for translation, espeak-ng for speech.

  --set-up          fetch the recognition runtime and model into the cache folder (about 230 MB, 110 MB stay), then end
  --check           test every engine with a sentence, print a table, then end
  --url URL         the scheduler's node socket (default ws://127.0.0.1:5010/ws/node)
  --token TOKEN     the node's token (default: the environment variable LINGUA_TOKEN)
  --id ID           the node's id (default: the scheduler gives one)
  --stages LIST     what it offers, such as asr,semantic or nmt (default asr,semantic,nmt,tts)
  --slots N         jobs at once (default: the number of workers)
  --workers N       threads for recognition (default: the number of cores)
  --spanish         recognise Spanish, too; its model is under the Moonshine AI Community License, not under an open one
  --engines FILE    a module with engines of your own (see the package's README)

The cache folder is $LINGUA_SPEECH_HOME, or lingua/speech in $XDG_CACHE_HOME or ~/.cache.`;

/** A text is a problem, for the person who typed it. */
export function readOptions(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Options | string {
  let values: ReturnType<typeof parse>;
  try {
    values = parse(argv);
  } catch (error) {
    const why = error instanceof Error ? error.message.split('. ')[0] : String(error);
    return `${why} (--help lists the options)`;
  }
  const workers = numberOf('workers', values.workers, availableParallelism());
  if (typeof workers === 'string') return workers;
  const slots = numberOf('slots', values.slots, workers);
  if (typeof slots === 'string') return slots;
  const stages = stagesOf(values.stages);
  if (typeof stages === 'string') return stages;
  const chosen = (['help', 'check', 'set-up'] as const).filter((name) => values[name] === true);
  if (chosen.length > 1) return `--${chosen.join(' and --')} exclude each other; give one of them`;
  return {
    action: chosen[0] ?? 'run',
    url: values.url ?? 'ws://127.0.0.1:5010/ws/node',
    token: values.token ?? (env.LINGUA_TOKEN === '' ? undefined : env.LINGUA_TOKEN),
    nodeId: values.id,
    slots,
    workers,
    stages,
    isSpanishWanted: values.spanish === true,
    enginesFile: values.engines,
  };
}

const parse = (argv: readonly string[]) =>
  parseArgs({
    args: [...argv],
    options: {
      help: { type: 'boolean', short: 'h' },
      check: { type: 'boolean' },
      'set-up': { type: 'boolean' },
      spanish: { type: 'boolean' },
      url: { type: 'string' },
      token: { type: 'string' },
      id: { type: 'string' },
      stages: { type: 'string' },
      slots: { type: 'string' },
      workers: { type: 'string' },
      engines: { type: 'string' },
    },
  }).values;

const MOST = 1_000;

function numberOf(name: string, text: string | undefined, usual: number): number | string {
  if (text === undefined) return usual;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= MOST) return number;
  return `--${name} is "${text}"; it must be a whole number from 1 to ${MOST}`;
}

function stagesOf(text: string | undefined): readonly Stage[] | string {
  if (text === undefined) return STAGES;
  const names = text.split(',').map((name) => name.trim());
  const known: readonly string[] = STAGES;
  const strange = names.find((name) => !known.includes(name));
  if (strange !== undefined) return `--stages names "${strange}"; the stages are ${STAGES.join(', ')}`;
  return STAGES.filter((stage) => names.includes(stage));
}
