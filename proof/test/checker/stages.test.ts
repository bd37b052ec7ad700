/** The rules of stages find work that was done twice, that no client wants, and texts that took a wrong way. */
import { describe, expect, it } from 'vitest';
import type { Part, UntimedEvent, WorkStep } from '../../../packages/simulation/dist/history.js';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkPaths } from '../../src/checker/paths.ts';
import { checkStages } from '../../src/checker/stages.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import { assigned, done, fault, healed, imagine, type Step } from './build-history.ts';

const check = (...steps: readonly Step[]) => {
  const facts = gatherFacts(imagine(...steps));
  return [...checkStages(facts, ALLOWANCES).violations, ...checkPaths(facts).violations];
};

const up = (node: string): Step => [
  0,
  { kind: 'node_up', node, slots: 4, style: 'sdk', acknowledges: true, pool: 'p' },
];
const part = (language: string, kind: Part['kind'] = 'text', input: Part['input'] = 'audio'): Part => ({
  utterance: 'u',
  language,
  kind,
  input,
});
const wants = (one: Part): Step => [
  4_000,
  {
    kind: 'asked',
    client: 'c',
    request: `u/${one.language}/${one.kind}`,
    words: 'hello',
    tenant: 't',
    pool: 'p',
    part: one,
  },
];

/** A job that its node receives, acknowledges and finishes, or does not finish. */
function work(
  at: number,
  node: string,
  job: string,
  stages: string,
  to: string,
  how = 'done',
  attempt = 1,
): Step[] {
  const run = { node, job, attempt };
  const from = stages.startsWith('tts') ? to : 'en';
  return [
    [at, assigned(node, job, attempt)],
    [at + 10, { kind: 'acknowledged', ...run }],
    [at + 10, { kind: 'understood', ...run, words: 'hello', stages, from, to }],
    [at + 300, how === 'done' ? done(node, job, attempt) : { kind: 'ended', how: 'failed', ...run }],
  ];
}

const step = (stages: string, to: string, node: string, job: string): WorkStep => ({
  stages,
  to,
  node,
  job,
  attempt: 1,
});
const gets = (one: Part, ...steps: readonly WorkStep[]): Step => [
  9_000,
  {
    kind: 'outcome',
    client: 'c',
    request: `u/${one.language}/${one.kind}`,
    result: { words: 'hello', by: steps.at(-1), steps },
  } satisfies UntimedEvent,
];

const NODES = [up('a'), up('b')];
const RECOGNISED = work(5_000, 'a', 'j1', 'asr+semantic', 'en');
const PATH = [step('asr+semantic', 'en', 'a', 'j1'), step('nmt', 'es', 'b', 'j2')];

describe('an utterance in several languages', () => {
  it('is recognised once and translated once per language', () => {
    const [es, fr] = [part('es'), part('fr')];
    const history = [
      ...NODES,
      wants(es),
      wants(fr),
      ...RECOGNISED,
      ...work(6_000, 'b', 'j2', 'nmt', 'es'),
      ...work(6_100, 'b', 'j3', 'nmt', 'fr'),
      gets(es, ...PATH),
      gets(fr, step('asr+semantic', 'en', 'a', 'j1'), step('nmt', 'fr', 'b', 'j3')),
    ].sort(byTime);
    expect(check(...history)).toEqual([]);
  });

  it('S1 done once: no second recognition while the first is sound', () => {
    const again = work(6_000, 'b', 'j2', 'asr+semantic', 'en');
    expect(check(...NODES, wants(part('es')), ...RECOGNISED, ...again)).toMatchObject([
      { invariant: 'S1 done once', message: expect.stringContaining('asr by j2#1 on b') },
      { invariant: 'S1 done once', message: expect.stringContaining('semantic by j2#1 on b') },
    ]);
  });

  it('may be recognised again after its node failed', () => {
    const failed = work(5_000, 'a', 'j1', 'asr+semantic', 'en', 'failed');
    const again = work(6_000, 'b', 'j1b', 'asr+semantic', 'en');
    expect(check(...NODES, wants(part('es')), ...failed, ...again)).toEqual([]);
  });

  it('may be recognised again after its node was cut off', () => {
    const again = work(6_000, 'b', 'j2', 'asr+semantic', 'en');
    const cut: Step[] = [
      [5_020, fault(1, 'node_partitioned', 'a')],
      [5_900, healed(1)],
    ];
    const history = [...NODES, wants(part('es')), ...RECOGNISED, ...cut, ...again].sort(byTime);
    expect(check(...history)).toEqual([]);
  });

  it('may reach a node late that could not be reached while another attempt was made', () => {
    const second = work(5_000, 'a', 'j1', 'asr+semantic', 'en', 'done', 2);
    const first = work(6_000, 'b', 'j1', 'asr+semantic', 'en');
    const cut: Step[] = [
      [4_500, fault(1, 'node_partitioned', 'b')],
      [5_990, healed(1)],
    ];
    const story = [...NODES, wants(part('es')), ...second, ...first];
    expect(check(...[...story, ...cut].sort(byTime))).toEqual([]);
    expect(check(...story)).not.toEqual([]);
  });

  it('S2 wanted only: no language and no voice that its client did not ask for', () => {
    const extra = [...work(6_000, 'b', 'j2', 'nmt', 'es'), ...work(7_000, 'b', 'j3', 'tts', 'es')];
    const useless = work(8_000, 'b', 'j4', 'nmt', 'it');
    const history = [
      ...NODES,
      wants(part('es')),
      ...RECOGNISED,
      ...extra,
      ...useless,
      gets(part('es'), ...PATH),
    ];
    expect(check(...history)).toMatchObject([
      { invariant: 'S2 wanted only', message: 'u: nobody wants it spoken in es, as j3 does' },
      { invariant: 'S2 wanted only', message: 'u: nobody wants it, which j4 makes' },
    ]);
  });

  it('S2 wanted only: typed text is not recognised', () => {
    const found = check(...NODES, wants(part('es', 'text', 'text')), ...RECOGNISED);
    expect(found).toMatchObject([{ invariant: 'S2 wanted only' }]);
  });

  it.each([
    [
      'a step that its node never finished',
      [step('asr+semantic', 'en', 'a', 'j1'), step('nmt', 'es', 'b', 'j9')],
    ],
    ['another language', [step('asr+semantic', 'en', 'a', 'j1')]],
    ['a missing repair', [step('asr', 'en', 'a', 'j1'), step('nmt', 'es', 'b', 'j2')]],
  ])('I4 fencing: its text shows %s', (_name, steps) => {
    const history = [
      ...NODES,
      wants(part('es')),
      ...RECOGNISED,
      ...work(6_000, 'b', 'j2', 'nmt', 'es'),
      gets(part('es'), ...steps),
    ];
    expect(check(...history)).toMatchObject([{ invariant: 'I4 fencing' }]);
  });
});

const byTime = (one: Step, other: Step): number => timeOf(one) - timeOf(other);
const timeOf = (each: Step): number => (Array.isArray(each) ? (each[0] as number) : 0);
