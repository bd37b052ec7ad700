/** Chains as jobs: which node could perform one, against the readable rules of selection, and a chain's own rule written out. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { includesLanguage } from '../../../src/domain/language.ts';
import { translates } from '../../../src/domain/profile.ts';
import { createRequirements } from '../../../src/domain/requirements.ts';
import { type Chain, STAGES, type Stage } from '../../../src/domain/stage.ts';
import { canRun } from '../../../src/runtime/stages/can-run.ts';
import { isWholeJob, needOfChain, productOf } from '../../../src/runtime/stages/chain-job.ts';
import { anyProfile, fleetSteps, nodeView } from '../fleet/fleet-fixture.ts';
import { createPooledFleet } from '../fleet/named-pools.ts';
import { apply } from '../fleet/plain-fleet.ts';
import { naiveFailures, type PlainNode } from '../select/naive-rules.ts';

const language = fc.constantFrom('en', 'zh', 'de');

/** Every run of consecutive stages, from audio or from text. */
const CHAINS: readonly (readonly Stage[])[] = STAGES.flatMap((_, from) =>
  STAGES.slice(from).map((__, length) => STAGES.slice(from, from + length + 1)),
);

const chain: fc.Arbitrary<Chain> = fc
  .record({ stages: fc.constantFrom(...CHAINS), source: language, other: language })
  .map(({ stages, source, other }) => ({
    stages,
    input: stages.includes('asr') ? 'audio' : 'text',
    source,
    target: stages.includes('nmt') ? other : source,
  }));

const require = createRequirements({});
const asked = (tenantId: string, needsPublicNode: boolean) => ({
  tenantId,
  sessionId: 'session',
  need: { needsPublicNode },
});

/** What passes with time: `up` ignores it, `willing` does not. */
const PASSING = ['status_not_ready', 'stale_heartbeat', 'ejected', 'resource_threshold_exceeded'];

describe('a chain', () => {
  it('can run exactly where the readable rules say so, whether or not a slot is free', () => {
    const scene = fc.record({
      steps: fleetSteps(8, 20),
      chains: fc.array(chain, { minLength: 8, maxLength: 8 }),
      tenantId: fc.constantFrom('tenant', 'acme', 'globex'),
      needsPublicNode: fc.boolean(),
      poolIds: fc.option(fc.shuffledSubarray([0, 1, 2]), { nil: undefined }),
    });
    let served = 0;
    fc.assert(
      fc.property(scene, ({ steps, chains, tenantId, needsPublicNode, poolIds }) => {
        const fleet = createPooledFleet();
        const plain = new Map<string, PlainNode>();
        for (const step of steps) apply(fleet, plain, step);
        for (const chain of chains) {
          const made = needOfChain(chain, asked(tenantId, needsPublicNode), require, 'held');
          const need = { ...made, ...(poolIds && { poolIds }) };
          const without = (...ignored: readonly string[]) =>
            [...plain.values()].some((node) =>
              [...naiveFailures(node, need)].every((reason) => ignored.includes(reason)),
            );
          expect(canRun(fleet, need, 'willing')).toBe(without('capacity_exceeded'));
          expect(canRun(fleet, need, 'up')).toBe(without('capacity_exceeded', ...PASSING));
          if (canRun(fleet, need, 'willing')) served += 1;
        }
      }),
      { numRuns: 100, seed: 26 },
    );
    // Otherwise the property compares nothing but refusals.
    expect(served).toBeGreaterThan(20);
  });

  it('needs of a node each of its stages in its language, and nothing else', () => {
    const abilities = fc.record({
      asr: fc.subarray(['en', 'zh', 'de']),
      semantic: fc.subarray(['en', 'zh', 'de']),
      tts: fc.subarray(['en', 'zh', 'de']),
      pairs: fc.uniqueArray(fc.record({ source: language, target: language }), {
        maxLength: 6,
        selector: ({ source, target }) => `${source}>${target}`,
      }),
      takesText: fc.boolean(),
      isLegacy: fc.boolean(),
    });
    fc.assert(
      fc.property(abilities, chain, ({ asr, semantic, tts, pairs, takesText, isLegacy }, wanted) => {
        const nmt = { sources: [], targets: [], blocked: [], pairs };
        const fleet = createPooledFleet();
        const profile = { ...anyProfile, asr, semantic, tts, nmt, isLegacy };
        const supports = takesText ? (['text_input'] as const) : [];
        fleet.upsert(nodeView('only', { profile: { ...profile, supports } }));
        const has: Record<Stage, boolean> = {
          asr: includesLanguage(asr, wanted.source),
          semantic: includesLanguage(semantic, wanted.source),
          nmt: translates(nmt, wanted.source, wanted.target),
          tts: includesLanguage(tts, wanted.target),
        };
        const isFit =
          wanted.stages.every((stage) => has[stage]) &&
          (wanted.input === 'audio' || takesText) &&
          (!isLegacy || isWholeJob(wanted));
        const need = needOfChain(wanted, asked('tenant', true), require, 'held');
        expect(canRun(fleet, need, 'willing')).toBe(isFit);
      }),
      { numRuns: 500, seed: 26 },
    );
  });

  it('has the named services and analyses only where the speech is', () => {
    const named = {
      needsPublicNode: true,
      services: ['s1'],
      types: ['tone'],
      features: ['emotion_detection'],
    };
    const request = { tenantId: 'tenant', sessionId: 'session', need: named };
    const core = createRequirements({ asr: 'core-asr', tts: 'core-tts' });
    const about = { source: 'en', target: 'en' };
    expect(
      needOfChain({ ...about, stages: ['asr'], input: 'audio' }, request, core, 'reference'),
    ).toMatchObject({
      services: ['core-asr', 's1'],
      types: ['tone'],
      features: ['emotion_detection'],
      isAudioByReference: true,
    });
    const spoken = needOfChain({ ...about, stages: ['tts'], input: 'text' }, request, core, 'reference');
    expect(spoken).toMatchObject({ services: ['core-tts'], types: [], isAudioByReference: false });
    expect(spoken.features).toBeUndefined();
  });

  it('is named by what it yields', () => {
    const product = (stages: readonly Stage[], input: Chain['input'] = 'text') =>
      productOf({ stages, input, target: 'es' });
    expect(product(['asr'], 'audio')).toBe('asr');
    expect(product(['asr', 'semantic'], 'audio')).toBe('source');
    expect(product(['semantic'])).toBe('source');
    expect(product(['nmt'])).toBe('text:es');
    expect(product(['semantic', 'nmt'])).toBe('text:es');
    expect(product(['tts'])).toBe('voice:es');
    expect(product(['nmt', 'tts'])).toBe('spoken:es');
    expect(product(['asr', 'semantic', 'nmt'], 'audio')).toBe('caption:es');
    expect(product([...STAGES], 'audio')).toBe('whole:es');
  });
});
