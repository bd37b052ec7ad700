/** The options of `lingua talk`: read, and refused all at once if they are wrong. Pure. */
import { DEFAULT_URL } from '../operator-command.ts';
import { parseFlags } from '../parse-flags.ts';
import type { TalkBehaviour } from './plan-turn.ts';

export interface TalkOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly sessions: number;
  /** 0 = until they are interrupted. */
  readonly seconds: number;
  readonly languages: readonly [string, string];
  readonly behaviour: TalkBehaviour;
  readonly seed: number;
  readonly isJson: boolean;
}

export type ReadTalk =
  | { readonly kind: 'talk'; readonly talk: TalkOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

export const TALK_USAGE = `Usage: lingua talk [options]

Simulated people talk through a scheduler, each session a pair face to face, and every utterance is followed to its outcome.
Ends with 1 if anything was lost, doubled or out of order.

  --url URL          address of the scheduler (${DEFAULT_URL})
  --token TOKEN      token of a client, if the scheduler requires one
  --sessions N       how many pairs (2)
  --seconds T        how long they talk; 0 = until Ctrl-C (30)
  --languages A,B    the languages of each pair (zh,en)
  --chunk-ms N       length of one piece of audio (100)
  --utterance-ms N   usual length of an utterance (2000)
  --pause-ms N       usual silence between two utterances (1500)
  --cut-every S      cut each connection every S seconds, to see sessions resume; 0 = never (0)
  --seed N           the same seed repeats the same talk (1)
  --json             one JSON object per line
  --help             this text`;

export function readTalk(argv: readonly string[]): ReadTalk {
  const flags = parseFlags(argv, FLAGS);
  if (typeof flags === 'string') return { kind: 'invalid', problems: [flags] };
  const parsed = flags.values;
  if (parsed.help) return { kind: 'help' };
  const problems: string[] = [];
  const number = (name: NumberName, min: number, max: number, isWhole = true): number => {
    const value = Number(parsed[name]);
    if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
    problems.push(`--${name} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`);
    return min;
  };
  const talk: TalkOptions = {
    url: parsed.url,
    token: parsed.token,
    sessions: number('sessions', 1, 10_000),
    seconds: number('seconds', 0, 10_000_000, false),
    languages: twoLanguages(parsed.languages, problems),
    behaviour: {
      chunkMs: number('chunk-ms', 10, 2_000),
      utteranceMs: number('utterance-ms', 10, 60_000),
      pauseMs: number('pause-ms', 0, 600_000),
      cutEveryMs: number('cut-every', 0, 86_400, false) * 1_000,
    },
    seed: number('seed', 0, 2 ** 31),
    isJson: parsed.json,
  };
  if (!/^(ws|http)s?:\/\//.test(talk.url) || !URL.canParse(talk.url))
    problems.push('--url must start with http://, https://, ws:// or wss://');
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'talk', talk };
}

type NumberName = 'sessions' | 'seconds' | 'chunk-ms' | 'utterance-ms' | 'pause-ms' | 'cut-every' | 'seed';

function twoLanguages(list: string, problems: string[]): readonly [string, string] {
  const [first = '', second = '', ...more] = list.split(',').map((tag) => tag.trim().toLowerCase());
  const isRight = [first, second].every((tag) => /^[a-z0-9-]{2,35}$/.test(tag)) && more.length === 0;
  if (!isRight || first === second) problems.push('--languages must be two languages, such as zh,en');
  return [first, second];
}

const FLAGS = {
  url: { type: 'string', default: DEFAULT_URL },
  token: { type: 'string' },
  sessions: { type: 'string', default: '2' },
  seconds: { type: 'string', default: '30' },
  languages: { type: 'string', default: 'zh,en' },
  'chunk-ms': { type: 'string', default: '100' },
  'utterance-ms': { type: 'string', default: '2000' },
  'pause-ms': { type: 'string', default: '1500' },
  'cut-every': { type: 'string', default: '0' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;
