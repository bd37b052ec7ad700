/** The rules of rooms find captions that are lost, doubled, disordered, late, translated for nobody, or of another room. */
import { describe, expect, it } from 'vitest';
import type { UntimedEvent, WorkStep } from '../../../packages/simulation/dist/history.js';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkRooms } from '../../src/checker/rooms/check-rooms.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import { assigned, done, fault, healed, imagine, type Step } from './build-history.ts';

const check = (steps: readonly Step[], allowances: Partial<typeof ALLOWANCES> = {}) => {
  // A tuple is timed; the others follow 100 ms after the one before. In the order of their times.
  const history = imagine(...steps).sort((one, other) => one.at - other.at);
  return checkRooms(gatherFacts(history), { ...ALLOWANCES, isExact: true, ...allowances }).flatMap(
    ({ violations }) => violations,
  );
};
const broken = (steps: readonly Step[], allowances: Partial<typeof ALLOWANCES> = {}): string[] =>
  check(steps, allowances).map(({ invariant }) => invariant);

const up = (node: string, pool = 'p', at = 0): Step => [
  at,
  { kind: 'node_up', node, slots: 4, style: 'sdk', acknowledges: true, pool },
];

/** In the room from the beginning. */
const member = (client: string, language: string, room = 'r'): (readonly [number, UntimedEvent])[] => [
  [100, { kind: 'room_wanted', client, room, language }],
  [200, { kind: 'room_entered', client, room, member: `session of ${client}` }],
];

const said = (at: number, words: string, { client = 'ann', language = 'en', room = 'r' } = {}): Step[] => [
  [at, { kind: 'asked', client, request: `req-${words}`, words, tenant: 't', pool: 'p', room, language }],
  [at + 50, { kind: 'accepted', client, request: `req-${words}` }],
];

const step = (words: string, stages: string, to: string): WorkStep => ({
  stages,
  to,
  node: stages === 'nmt' ? 'b' : 'a',
  job: `${words}-${stages}-${to}`,
  attempt: 1,
});

/** A job on its node. */
function work(at: number, words: string, stages: string, to: string, from = 'en'): Step[] {
  const { node, job, attempt } = step(words, stages, to);
  return [
    [at, assigned(node, job)],
    [at, { kind: 'understood', node, job, attempt, words, stages, from, to }],
    [at + 300, done(node, job)],
  ];
}

const caption = (
  at: number,
  client: string,
  seq: number,
  words: string,
  language: string,
  how: Partial<Extract<UntimedEvent, { kind: 'captioned' }>> = {},
): Step => {
  const steps =
    language === 'en' || how.isFinal === false
      ? [step(words, 'asr', 'en')]
      : [step(words, 'asr', 'en'), step(words, 'nmt', language)];
  return [
    at,
    {
      kind: 'captioned',
      client,
      room: 'r',
      seq,
      language,
      isFinal: true,
      result: { words, by: steps.at(-1), steps },
      ...how,
    },
  ];
};

const END: Step = [90_000, { kind: 'quiet' }];
/** Ann speaks English; Eva hears Spanish, Bob English. */
const ROOM: readonly Step[] = [
  up('a'),
  up('b'),
  ...member('ann', 'en'),
  ...member('bob', 'en'),
  ...member('eva', 'es'),
  END,
];
const one = (at: number, words: string): Step[] => [
  ...said(at, words),
  ...work(at + 100, words, 'asr', 'en'),
  ...work(at + 500, words, 'nmt', 'es'),
];
const ONE = [...ROOM, ...one(5_000, 'hi'), caption(5_450, 'bob', 1, 'hi', 'en')];
const WHOLE = [...ONE, caption(5_850, 'eva', 1, 'hi', 'es')];

describe('a room', () => {
  it('gives each member one caption in its language', () => {
    expect(broken(WHOLE)).toEqual([]);
  });

  it('may correct a caption once (R1)', () => {
    const late = caption(5_830, 'eva', 1, 'hi', 'es', { isFinal: false });
    expect(broken([...WHOLE, late])).toEqual([]);
    expect(broken([...WHOLE, caption(5_900, 'eva', 1, 'hi', 'es')])).toEqual(['R1 one rendition']);
    expect(broken([...WHOLE, caption(5_900, 'eva', 1, 'hi', 'es', { isFinal: false })])).toEqual([
      'R1 one rendition',
    ]);
  });

  it('loses no caption (R1)', () => {
    expect(broken(ONE)).toEqual(['R1 one rendition']);
    expect(broken([...ONE, caption(5_830, 'eva', 1, 'hi', 'es', { isFinal: false })])).toEqual([
      'R1 one rendition',
    ]);
  });

  it('owes nothing to a member that came later, or left, or is the speaker', () => {
    const left: Step = [7_000, { kind: 'room_left', client: 'eva', room: 'r', why: 'left' }];
    expect(broken([...ONE, left])).toEqual([]);
    const later = member('max', 'fr').map(([at, event]) => [at + 5_000, event] as const);
    expect(broken([...WHOLE, ...later])).toEqual([]);
  });

  it('loses no caption while its members have no connection (R1)', () => {
    const lost: Step = [5_300, { kind: 'room_lost', client: 'eva', room: 'r' }];
    const back: Step = [9_000, { kind: 'room_entered', client: 'eva', room: 'r', member: 's' }];
    expect(broken([...ONE, lost, back])).toEqual(['R1 one rendition']);
    expect(broken([...ONE, lost, back, caption(9_010, 'eva', 1, 'hi', 'es')])).toEqual([]);
  });

  it('loses no caption with an instance (R5), and with a master only what its replica lacked', () => {
    const killed = [[5_200, fault(1, 'instance_killed')] as const, [6_000, healed(1)] as const];
    expect(broken([...ONE, ...killed])).toEqual(['R5 log survives']);
    const failedOver = [
      [5_200, { ...fault(1, 'shard_failed_over'), lossMs: 300 }] as const,
      [6_000, healed(1)] as const,
    ];
    expect(broken([...ONE, ...failedOver])).toEqual([]);
    expect(broken([...ONE, ...failedOver], { lossMs: 0 })).toEqual(['R5 log survives']);
  });

  it('gives a number once (R5), and an utterance one number (R1)', () => {
    const two = [...WHOLE, ...one(8_000, 'bye')];
    const [again, fresh] = [1, 2].map((seq) => [
      caption(8_450, 'bob', seq, 'bye', 'en'),
      caption(8_850, 'eva', seq, 'bye', 'es'),
    ]) as [Step[], Step[]];
    expect(broken([...two, ...fresh])).toEqual([]);
    expect(broken([...two, ...again])).toContain('R5 log survives');
    expect(
      broken([...two, caption(8_450, 'bob', 2, 'bye', 'en'), caption(8_850, 'eva', 3, 'bye', 'es')]),
    ).toEqual(['R1 one rendition']);
  });

  it('shows captions in order, unless one waited for the other for long (R1)', () => {
    const second = [
      ...said(5_100, 'bye'),
      ...work(5_200, 'bye', 'asr', 'en'),
      ...work(5_300, 'bye', 'nmt', 'es'),
    ];
    const bob = caption(5_550, 'bob', 2, 'bye', 'en');
    const overtakes = (at: number): Step[] => [...WHOLE, ...second, bob, caption(at, 'eva', 2, 'bye', 'es')];
    expect(broken(overtakes(5_700))).toEqual(['R1 one rendition']);
    expect(broken(overtakes(5_851))).toEqual([]);
    const slow = [
      ...ROOM,
      ...said(5_000, 'hi'),
      ...work(5_100, 'hi', 'asr', 'en'),
      caption(5_450, 'bob', 1, 'hi', 'en'),
      ...work(8_000, 'hi', 'nmt', 'es'),
      ...second,
      bob,
      caption(7_150, 'eva', 2, 'bye', 'es'),
      caption(8_310, 'eva', 1, 'hi', 'es'),
    ];
    expect(broken(slow)).toEqual([]);
  });

  it('lets no language wait for another (R2)', () => {
    expect(broken([...ONE, caption(5_800 + 400, 'eva', 1, 'hi', 'es')])).toEqual([]);
    expect(broken([...ONE, caption(5_800 + 600, 'eva', 1, 'hi', 'es')])).toEqual(['R2 independence']);
    const disturbed = [[5_700, fault(1, 'store_slow', 'i')] as const, [6_000, healed(1)] as const];
    expect(broken([...ONE, ...disturbed, caption(6_400, 'eva', 1, 'hi', 'es')])).toEqual([]);
  });

  it('translates for nobody who is not there (R3)', () => {
    expect(broken([...WHOLE, ...work(5_600, 'hi', 'nmt', 'fr')])).toEqual(['R3 demand']);
    const left: Step = [4_000, { kind: 'room_left', client: 'max', room: 'r', why: 'left' }];
    const max = [...member('max', 'fr'), left];
    expect(broken([...WHOLE, ...max, ...work(5_600, 'hi', 'nmt', 'fr')])).toEqual([]);
    expect(broken([...WHOLE, ...max, ...work(11_000, 'hi', 'nmt', 'fr')])).toEqual(['R3 demand']);
    // It may come back.
    const gone: Step = [4_000, { kind: 'client_left', client: 'max' }];
    const vanished = [...member('max', 'fr'), gone];
    expect(broken([...WHOLE, ...vanished, ...work(11_000, 'hi', 'nmt', 'fr')])).toEqual([]);
  });

  it('translates through another language if somebody hears the last one (R3)', () => {
    const first = work(5_600, 'hi', 'nmt', 'de');
    const run = { ...step('hi', 'nmt', 'fr'), job: 'second' };
    const second: Step[] = [
      [6_000, assigned(run.node, run.job)],
      [
        6_000,
        {
          kind: 'understood',
          node: run.node,
          job: run.job,
          attempt: 1,
          words: 'hi',
          stages: 'nmt',
          from: 'de',
          to: 'fr',
        },
      ],
    ];
    expect(
      broken([...WHOLE, ...member('max', 'fr'), ...first, ...second]).filter((each) => each === 'R3 demand'),
    ).toEqual([]);
    expect(broken([...WHOLE, ...first, ...second])).toContain('R3 demand');
  });

  it('translates nothing into the language that was spoken (R4)', () => {
    expect(broken([...WHOLE, ...work(5_600, 'hi', 'nmt', 'en')])).toEqual(['R4 own language']);
    const steps = [step('hi', 'asr', 'en'), step('hi', 'nmt', 'es')];
    const translated = { result: { words: 'hi', by: steps.at(-1), steps } };
    expect(
      broken([...WHOLE, ...member('kim', 'en'), caption(5_860, 'kim', 1, 'hi', 'en', translated)]),
    ).toContain('R4 own language');
  });

  it('shows what was said in it, to its members only, on nodes of its tenant (R6)', () => {
    expect(broken([...WHOLE, caption(5_900, 'spy', 1, 'hi', 'es')])).toEqual(['R6 rooms apart']);
    const elsewhere = [...member('joe', 'es', 's'), caption(5_900, 'joe', 1, 'hi', 'es', { room: 's' })];
    expect(broken([...WHOLE, ...elsewhere])).toEqual(['R6 rooms apart']);
    expect(broken([...WHOLE, up('a', 'q', 100)])).toEqual(['R6 rooms apart']);
    const tried = { kind: 'room_tried', client: 'spy', tenant: 'u', room: 'r' } as const;
    expect(broken([...WHOLE, { ...tried, didEnter: false }])).toEqual([]);
    expect(broken([...WHOLE, { ...tried, didEnter: true }])).toEqual(['R6 rooms apart']);
  });

  it('shows only what nodes have made and somebody has said (R1)', () => {
    expect(broken([...WHOLE, caption(5_900, 'eva', 2, 'never said', 'es')])).toContain('R1 one rendition');
    const early = [...ONE, caption(5_700, 'eva', 1, 'hi', 'es')];
    expect(broken(early)).toEqual(['R1 one rendition']);
  });
});
