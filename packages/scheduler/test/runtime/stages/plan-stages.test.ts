/** Which chains serve an utterance: examples, and the laws of every plan over random fleets. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WantedTarget } from '../../../src/domain/plan.ts';
import type { Chain, Stage } from '../../../src/domain/stage.ts';
import { planStages, type StageQuestion } from '../../../src/runtime/stages/plan-stages.ts';

/** A node of the test: what it can do, language by language. */
interface TestNode {
  readonly asr: readonly string[];
  readonly semantic: readonly string[];
  readonly nmt: readonly (readonly [string, string])[];
  readonly tts: readonly string[];
  /** It takes whole jobs with audio, and nothing else. */
  readonly isLegacy?: boolean;
}

const NONE: TestNode = { asr: [], semantic: [], nmt: [], tts: [] };
const WHOLE: TestNode = { asr: ['en'], semantic: ['en'], nmt: [['en', 'es']], tts: ['es'] };

function runs(node: TestNode, { stages, input, source, target }: Chain): boolean {
  if (node.isLegacy && (input === 'text' || !stages.includes('asr') || !stages.includes('nmt'))) return false;
  const has: Record<Stage, boolean> = {
    asr: node.asr.includes(source) || (source === 'auto' && node.asr.length > 0),
    semantic: node.semantic.includes(source) || (source === 'auto' && node.semantic.length > 0),
    nmt: node.nmt.some(([from, to]) => (from === source || source === 'auto') && to === target),
    tts: node.tts.includes(target),
  };
  return stages.every((stage) => has[stage]);
}

const want = (...names: string[]): WantedTarget[] =>
  names.map((name) => ({ language: name.replace('!', ''), isVoiceWanted: name.endsWith('!') }));

/** `es!`: with a voice. */
const plan = (nodes: readonly TestNode[], wanted: string[], given: Partial<StageQuestion> = {}) =>
  planStages({
    input: 'audio',
    source: 'en',
    wanted: want(...wanted),
    canRun: (chain) => nodes.some((node) => runs(node, chain)),
    pivots: ['es', 'fr', 'de'],
    ...given,
  });

const shown = ({ chains }: ReturnType<typeof plan>): string[] =>
  chains.map(({ id, after }) => (after === undefined ? id : `${after} → ${id}`));

describe('one target', () => {
  it('is one job if one node has all stages', () => {
    expect(shown(plan([WHOLE], ['es!']))).toEqual(['asr+semantic+nmt+tts:en>es']);
  });

  it('is split into the fewest jobs if no node has all stages', () => {
    const nodes = [
      { ...NONE, asr: ['en'] },
      { ...NONE, semantic: ['en'], nmt: [['en', 'es'] as const] },
      { ...NONE, tts: ['es'] },
    ];
    expect(shown(plan(nodes, ['es!']))).toEqual([
      'asr:en',
      'asr:en → semantic+nmt:en>es',
      'semantic+nmt:en>es → tts:es',
    ]);
  });

  it('goes through a pivot if no node has the direct pair', () => {
    const nodes = [
      { ...NONE, asr: ['en'], semantic: ['en'], nmt: [['en', 'es'] as const] },
      { ...NONE, nmt: [['es', 'pt'] as const], tts: ['pt'] },
    ];
    const { chains, targets } = plan(nodes, ['pt!']);
    expect(chains.map(({ id }) => id)).toEqual(['asr+semantic+nmt:en>es', 'nmt+tts:es>pt']);
    expect(targets).toMatchObject([{ path: ['en', 'es', 'pt'], voiceFrom: 'nmt+tts:es>pt' }]);
  });

  it('without any voice is served as text, and names what is missing', () => {
    const { targets } = plan([{ ...WHOLE, tts: [] }], ['es!']);
    expect(targets).toMatchObject([{ textFrom: 'nmt:en>es', voiceFrom: undefined, missing: 'voice' }]);
  });

  it('typed text is neither recognised nor repaired', () => {
    expect(shown(plan([WHOLE], ['es!'], { input: 'text' }))).toEqual(['nmt+tts:en>es']);
  });
});

describe('several targets', () => {
  const talkative: TestNode = {
    ...NONE,
    asr: ['en'],
    semantic: ['en'],
    nmt: [
      ['en', 'es'],
      ['en', 'fr'],
      ['es', 'pt'],
      ['es', 'gl'],
    ],
    tts: ['es', 'fr', 'pt'],
  };

  it('are recognised once and translated in one job each; captions do not wait for sound', () => {
    expect(shown(plan([talkative], ['es!', 'fr']))).toEqual([
      'asr+semantic:en',
      'asr+semantic:en → nmt:en>es',
      'nmt:en>es → tts:es',
      'asr+semantic:en → nmt:en>fr',
    ]);
  });

  it('share a pivot', () => {
    expect(shown(plan([talkative], ['es!', 'pt!', 'gl']))).toEqual([
      'asr+semantic:en',
      'asr+semantic:en → nmt:en>es',
      'nmt:en>es → tts:es',
      'nmt:en>es → nmt:es>pt',
      'nmt:es>pt → tts:pt',
      'nmt:en>es → nmt:es>gl',
    ]);
  });

  it('the language of the speaker is not translated', () => {
    expect(shown(plan([talkative], ['en', 'fr']))).toEqual([
      'asr+semantic:en',
      'asr+semantic:en → nmt:en>fr',
    ]);
  });

  it('are whole jobs if only legacy nodes have them', () => {
    const legacy = { ...talkative, isLegacy: true };
    expect(shown(plan([legacy], ['es!', 'fr!']))).toEqual([
      'asr+semantic+nmt+tts:en>es',
      'asr+semantic+nmt+tts:en>fr',
    ]);
  });

  it('an unknown source is recognised first, and the rest is planned later', () => {
    const { chains, isContinued } = plan([talkative], ['es', 'fr'], { source: 'auto' });
    expect([chains.map(({ id }) => id), isContinued]).toEqual([['asr+semantic:auto'], true]);
  });

  it('nothing wanted means nothing planned', () => {
    expect(plan([talkative], []).chains).toEqual([]);
  });
});

const language = fc.constantFrom('en', 'es', 'fr', 'de', 'pt');
const languages = fc.uniqueArray(language, { maxLength: 4 });
const node: fc.Arbitrary<TestNode> = fc.record({
  asr: languages,
  semantic: languages,
  nmt: fc.uniqueArray(fc.tuple(language, language), { maxLength: 6, selector: String }),
  tts: languages,
  isLegacy: fc.boolean(),
});
const wanted = fc.uniqueArray(fc.record({ language, isVoiceWanted: fc.boolean() }), {
  minLength: 1,
  maxLength: 5,
  selector: (target) => target.language,
});
const world = fc.record({
  nodes: fc.array(node, { maxLength: 4 }),
  wanted,
  input: fc.constantFrom('audio' as const, 'text' as const),
});

/** The readable rule: the text of a language can be had from audio or text, with at most one pivot. */
function isReachable(
  nodes: readonly TestNode[],
  input: 'audio' | 'text',
  pivots: readonly string[],
  target: string,
): boolean {
  const can = (chain: Chain) => nodes.some((each) => runs(each, chain));
  const translates = (source: string, to: string) =>
    can({ stages: ['nmt'], input: 'text', source, target: to });
  const about = { source: 'en', target: 'en' };
  const isRecognised =
    input === 'text' ||
    can({ ...about, stages: ['asr', 'semantic'], input: 'audio' }) ||
    (can({ ...about, stages: ['asr'], input: 'audio' }) &&
      can({ ...about, stages: ['semantic'], input: 'text' }));
  const isSplit =
    isRecognised &&
    (target === 'en' ||
      translates('en', target) ||
      pivots.some((pivot) => translates('en', pivot) && translates(pivot, target)));
  const stages: Stage[] = target === 'en' ? ['asr', 'semantic'] : ['asr', 'semantic', 'nmt'];
  return isSplit || (input === 'audio' && can({ stages, input, source: 'en', target }));
}

describe('every plan', () => {
  const check = (
    law: (given: {
      nodes: readonly TestNode[];
      input: 'audio' | 'text';
      wanted: readonly WantedTarget[];
      made: ReturnType<typeof plan>;
    }) => void,
  ) =>
    fc.assert(
      fc.property(world, ({ nodes, input, wanted }) => {
        law({ nodes, input, wanted, made: plan(nodes, [], { wanted, input }) });
      }),
      { numRuns: 2_000, seed: 26 },
    );

  it('serves every wanted language that can be reached, and no other', () => {
    check(({ nodes, input, wanted, made }) => {
      expect(made.targets.map((target) => target.language).sort()).toEqual(
        wanted.map((target) => target.language).sort(),
      );
      // A wanted language is a pivot for the others: it is translated anyway.
      const pivots = ['es', 'fr', 'de', ...wanted.map((target) => target.language)];
      for (const { language, missing } of made.targets) {
        const isServed = missing === undefined || missing === 'voice';
        expect([language, isServed]).toEqual([language, isReachable(nodes, input, pivots, language)]);
      }
    });
  });

  it('has only chains that a node can run, none twice, each behind its input', () => {
    check(({ nodes, made }) => {
      const before = new Set<string>();
      for (const chain of made.chains) {
        expect(nodes.some((each) => runs(each, chain))).toBe(true);
        expect(before.has(chain.id)).toBe(false);
        if (chain.after !== undefined) expect(before.has(chain.after)).toBe(true);
        before.add(chain.id);
      }
    });
  });

  it('translates no language twice, except in whole jobs of legacy nodes', () => {
    check(({ made }) => {
      const texts = made.chains
        .filter(
          ({ stages, input }) => stages.includes('nmt') && (input === 'text' || !stages.includes('asr')),
        )
        .map(({ target }) => target);
      expect(new Set(texts).size).toBe(texts.length);
    });
  });

  it('repairs recognised text once before it is translated, and never typed text', () => {
    check(({ input, made }) => {
      const byId = new Map(made.chains.map((chain) => [chain.id, chain]));
      for (const { textFrom } of made.targets) {
        const path: Stage[] = [];
        for (let at = textFrom; at !== undefined; at = byId.get(at)?.after)
          path.unshift(...(byId.get(at)?.stages ?? []));
        if (path.length === 0) continue;
        const repairs = path.filter((stage) => stage === 'semantic').length;
        expect(repairs).toBe(input === 'text' ? 0 : 1);
        if (path.includes('nmt') && input === 'audio')
          expect(path.indexOf('semantic')).toBeLessThan(path.indexOf('nmt'));
      }
    });
  });

  it('has no chain that no wanted target needs', () => {
    check(({ made }) => {
      const needed = new Set(made.targets.flatMap(({ textFrom, voiceFrom }) => [textFrom, voiceFrom]));
      for (const chain of [...made.chains].reverse()) {
        expect(needed.has(chain.id)).toBe(true);
        needed.add(chain.after);
      }
    });
  });

  it('speaks every wanted voice that a node can speak', () => {
    check(({ nodes, made }) => {
      for (const { language, isVoiceWanted, textFrom, voiceFrom, missing } of made.targets) {
        if (missing === 'recognition' || missing === 'translation') continue;
        const canSpeak = nodes.some((each) =>
          runs(each, { stages: ['tts'], input: 'text', source: language, target: language }),
        );
        if (isVoiceWanted && canSpeak)
          expect([language, textFrom, voiceFrom !== undefined]).toEqual([language, textFrom, true]);
        expect(missing === 'voice').toBe(isVoiceWanted && voiceFrom === undefined);
      }
    });
  });
});
