/** The options of `lingua talk`: read, and refused all at once if they are wrong. Pure. */
import { DEFAULT_URL } from '../operator-command.ts';
import { parseFlags } from '../parse-flags.ts';
import type { TalkBehaviour } from './plan-turn.ts';

interface Talk {
  /** Sessions are spread over these instances. */
  readonly urls: readonly [string, ...string[]];
  readonly token: string | undefined;
  /** 0 = until they are interrupted. */
  readonly seconds: number;
  readonly behaviour: TalkBehaviour;
  readonly seed: number;
  readonly isJson: boolean;
}

export interface PairTalkOptions extends Talk {
  readonly sessions: number;
  readonly languages: readonly [string, string];
}

export interface RoomTalkOptions extends Talk {
  readonly people: number;
  /** They are given to the people in turn. */
  readonly languages: readonly string[];
}

export type ReadTalk =
  | { readonly kind: 'pairs'; readonly talk: PairTalkOptions }
  | { readonly kind: 'room'; readonly talk: RoomTalkOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

export const TALK_USAGE = `Usage: lingua talk [options]

Simulated people talk through a scheduler, each session a pair face to face, and every utterance is followed to its outcome.
With --room they are in one room: each speaks its language and gets captions in it, and every caption is followed to every person.
Ends with 1 if anything was lost, doubled or out of order.

  --url URL          address of the scheduler (${DEFAULT_URL}); several with commas: instances, used in turn
  --token TOKEN      token of a client, if the scheduler requires one
  --sessions N       how many pairs (2)
  --seconds T        how long they talk; 0 = until Ctrl-C (30)
  --languages A,B    the languages of each pair (zh,en)
  --room             one room instead of pairs; without --sessions
  --people N         with --room: how many people (6)
  --languages A,B,…  with --room: the languages of the people, in turn (en,es,fr,de)
  --chunk-ms N       length of one piece of audio (100)
  --utterance-ms N   usual length of an utterance (2000)
  --pause-ms N       usual silence between two utterances (1500); in a room times the number of people
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
    const value = Number(parsed[name] ?? USUAL[name]);
    if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
    problems.push(`--${name} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`);
    return min;
  };
  const talk: Talk = {
    urls: addresses(parsed.url, problems),
    token: parsed.token,
    seconds: number('seconds', 0, 10_000_000, false),
    behaviour: {
      chunkMs: number('chunk-ms', 10, 2_000),
      utteranceMs: number('utterance-ms', 10, 60_000),
      pauseMs: number('pause-ms', 0, 600_000),
      cutEveryMs: number('cut-every', 0, 86_400, false) * 1_000,
    },
    seed: number('seed', 0, 2 ** 31),
    isJson: parsed.json,
  };
  const { room, sessions, people, languages } = parsed;
  let read: ReadTalk;
  if (room) {
    if (sessions !== undefined) problems.push('--sessions counts pairs; with --room use --people');
    const count = number('people', 2, MOST_PEOPLE);
    read = {
      kind: 'room',
      talk: { ...talk, people: count, languages: roomLanguages(languages, count, problems) },
    };
  } else {
    if (people !== undefined)
      problems.push('--people is for a room; add --room, or use --sessions for pairs');
    read = {
      kind: 'pairs',
      talk: {
        ...talk,
        sessions: number('sessions', 1, 10_000),
        languages: twoLanguages(languages, problems),
      },
    };
  }
  return problems.length > 0 ? { kind: 'invalid', problems } : read;
}

/** A room has fewer speakers by default (`rooms.max_speakers`). */
const MOST_PEOPLE = 1_000;

type NumberName = keyof typeof USUAL;

function addresses(list: string, problems: string[]): readonly [string, ...string[]] {
  const [first = '', ...more] = list.split(',').map((url) => url.trim());
  if (![first, ...more].every((url) => /^(ws|http)s?:\/\//.test(url) && URL.canParse(url)))
    problems.push('--url must start with http://, https://, ws:// or wss://');
  return [first, ...more];
}

const tagsIn = (list: string): string[] => list.split(',').map((tag) => tag.trim().toLowerCase());
const isTag = (tag: string): boolean => /^[a-z0-9-]{2,35}$/.test(tag);

function twoLanguages(list = 'zh,en', problems: string[]): readonly [string, string] {
  const [first = '', second = '', ...more] = tagsIn(list);
  const isRight = isTag(first) && isTag(second) && more.length === 0;
  if (!isRight || first === second) problems.push('--languages must be two languages, such as zh,en');
  return [first, second];
}

function roomLanguages(list: string | undefined, people: number, problems: string[]): readonly string[] {
  const usual = ['en', 'es', 'fr', 'de'].slice(0, people);
  const tags = list === undefined ? usual : tagsIn(list);
  if (!tags.every(isTag) || new Set(tags).size < tags.length)
    problems.push('--languages must be different languages, such as en,es,fr,de');
  else if (tags.length > people)
    problems.push(`--languages has ${tags.length} languages for ${people} people; raise --people`);
  return tags;
}

/** Not in FLAGS: a flag that does not belong to the mode is refused only if it was given. */
const USUAL = {
  sessions: '2',
  people: '6',
  seconds: '30',
  'chunk-ms': '100',
  'utterance-ms': '2000',
  'pause-ms': '1500',
  'cut-every': '0',
  seed: '1',
} as const;

const FLAGS = {
  url: { type: 'string', default: DEFAULT_URL },
  token: { type: 'string' },
  room: { type: 'boolean', default: false },
  sessions: { type: 'string' },
  people: { type: 'string' },
  seconds: { type: 'string' },
  languages: { type: 'string' },
  'chunk-ms': { type: 'string' },
  'utterance-ms': { type: 'string' },
  'pause-ms': { type: 'string' },
  'cut-every': { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;
