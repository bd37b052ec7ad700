/** Point 2, explain: for a named node the exact list of facts that failed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Need } from '../../../src/domain/need.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import type { PoolPlan } from '../../../src/domain/pool.ts';
import { nmtProduct } from '../../../src/domain/profile.ts';
import { failedFacts } from '../../../src/runtime/explain/failed-facts.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { compileUncached } from '../../../src/runtime/select/compile-need.ts';
import { failures } from '../../../src/runtime/select/explain.ts';
import { anyNeed, anyProfile, fleetSteps, nodeView, someNeed } from '../fleet/fleet-fixture.ts';
import { createPooledFleet, NAMED_POOLS } from '../fleet/named-pools.ts';
import { apply } from '../fleet/plain-fleet.ts';
import { dividedFleet, having, planOf, pool } from '../pools/pool-fixture.ts';

const NO_EXCLUSIONS = new Set<string>();

function factsOf(node: Partial<NodeView>, need: Partial<Need> = {}, now = 0): string[] {
  const fleet = createFleetView();
  fleet.upsert(nodeView('n', node));
  const compiled = compileUncached(fleet, someNeed(need));
  return (
    failedFacts(compiled, 'n', NO_EXCLUSIONS, now)?.map(({ reason, fact }) => `${reason}: ${fact}`) ?? ['?']
  );
}

describe('the failed facts of a node', () => {
  it('have exactly the reasons of selection, in the same order', () => {
    fc.assert(
      fc.property(fleetSteps(12, 40), fc.array(anyNeed, { minLength: 1, maxLength: 3 }), (steps, needs) => {
        const fleet = createPooledFleet({ ...NAMED_POOLS, plan: planOf([]) });
        const plain = new Map();
        for (const step of steps) apply(fleet, plain, step);
        for (const [at, nodeId] of [...plain.keys()].entries()) fleet.setPaused(nodeId, at % 3 === 0);
        for (const need of needs) {
          const compiled = compileUncached(fleet, need);
          for (const nodeId of plain.keys()) {
            const reported = failedFacts(compiled, nodeId, NO_EXCLUSIONS, 0) ?? [];
            expect([...new Set(reported.map(({ reason }) => reason))]).toEqual(
              failures(fleet, compiled, nodeId),
            );
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('are empty for a node that could be chosen', () => {
    expect(factsOf({})).toEqual([]);
  });

  it.each<[string, Partial<NodeView>, Partial<Need>]>([
    [
      'asr_lang_unsupported: asr does not have "en" (it has de, zh)',
      { profile: { ...anyProfile, asr: ['de', 'zh'] } },
      {},
    ],
    [
      'semantic_lang_unsupported: semantic does not have "en" (it has none)',
      { profile: { ...anyProfile, semantic: [] } },
      {},
    ],
    [
      'tts_lang_unsupported: tts does not have "zh" (it has en)',
      { profile: { ...anyProfile, tts: ['en'] } },
      {},
    ],
    [
      'lang_pair_unsupported: nmt does not translate en -> zh (it translates from any to de)',
      { profile: { ...anyProfile, nmt: nmtProduct('any', ['de']) } },
      {},
    ],
    [
      'src_auto_no_candidate: a legacy node takes source "auto" only with lang_a and lang_b',
      { profile: { ...anyProfile, isLegacy: true } },
      { isPairUnknown: true },
    ],
    [
      'service_not_installed: service "whisper" is not installed (installed: other)',
      { profile: { ...having('other'), readyServices: ['whisper'] } },
      { services: ['whisper'] },
    ],
    [
      'model_not_available: service "a" is not ready',
      { profile: { ...having('a'), readyServices: [] } },
      { services: ['a'] },
    ],
    [
      'model_not_available: service "a" is marked unavailable',
      { profile: having('a'), markedServices: ['a'] },
      { services: ['a'] },
    ],
    [
      'model_not_available: service type "tts" is not ready',
      { profile: { ...anyProfile, readyTypes: ['asr', 'nmt', 'semantic'] } },
      {},
    ],
    ['model_not_available: every service of type "asr" is marked unavailable', { markedTypes: ['asr'] }, {}],
    [
      'feature_unsupported: feature "emotion_detection" is not offered (emotion-xlm-r would provide it)',
      {},
      { features: ['emotion_detection'] },
    ],
    [
      'model_not_available: "emotion-xlm-r", which provides emotion_detection, is marked unavailable',
      { profile: { ...anyProfile, features: ['emotion_detection'] }, markedServices: ['emotion-xlm-r'] },
      { features: ['emotion_detection'] },
    ],
    [
      'audio_ref_unsupported: does not fetch audio by reference (supports no audio_ref)',
      {},
      { isAudioByReference: true },
    ],
    [
      'not_in_public_pool: takes only jobs of tenant "acme"',
      { profile: { ...anyProfile, privateTo: 'acme' } },
      { needsPublicNode: true },
    ],
    ['status_not_ready: health is degraded', { health: 'degraded' }, {}],
    ['cordoned: is cordoned by an operator', { isCordoned: true }, {}],
    ['ejected: is ejected for failing too often', { isEjected: true }, {}],
    ['resource_threshold_exceeded: cpu, gpu or memory is above its threshold', { isCalm: false }, {}],
    ['capacity_exceeded: no free slot: 0 of 0 used', { slots: 0 }, {}],
  ])('%s', (expected, node, need) => {
    expect(factsOf(node, need)).toEqual([expected]);
  });

  it('say how long a node has been silent', () => {
    expect(factsOf({ isFresh: false, lastBeatAt: 1_000 }, {}, 62_400)).toEqual([
      'stale_heartbeat: heartbeat is stale: last one 61 s ago',
    ]);
  });

  it('name the pool of the node and the pools of the job', () => {
    const plan = planOf([pool(1, ['a']), pool(3, ['b'], { name: 'acme' })], {
      isStrict: true,
      tenantPools: new Map([['tenant', 3]]),
    });
    const fleet = dividedFleet(plan, nodeView('n', { profile: having('a') }));
    expect(failedFacts(compileUncached(fleet, someNeed()), 'n', NO_EXCLUSIONS, 0)).toEqual([
      { reason: 'not_in_pool', fact: 'is in pool 1 (p1); the job may use pool 3 (acme)' },
    ]);
  });

  it('never print "pool -1" for nodes in no pool', () => {
    const facts = (plan: PoolPlan, part = {}) => {
      const fleet = dividedFleet(plan, nodeView('n', { profile: having('a') }));
      return failedFacts(compileUncached(fleet, someNeed(part)), 'n', NO_EXCLUSIONS, 0);
    };
    const tenantPools = new Map([['tenant', 3]]);
    expect(facts(planOf([pool(3, ['b'])], { isStrict: true, tenantPools }))).toEqual([
      { reason: 'not_in_pool', fact: 'is in no pool; the job may use pool 3 (p3)' },
    ]);
    const dedicated = planOf([pool(3, ['a'], { isDedicated: true })], { tenantPools });
    expect(facts(dedicated, { tenantId: 'other' })).toEqual([
      { reason: 'not_in_pool', fact: 'is in pool 3 (p3); the job may use nodes in no pool' },
    ]);
  });

  it('say that a node that just disconnected is disconnected, not that its heartbeat is stale', () => {
    expect(factsOf({ isConnected: false }, {})).toEqual(['disconnected: its connection is lost']);
  });

  it('say that the node is excluded from this job', () => {
    const fleet = createFleetView();
    fleet.upsert(nodeView('n'));
    expect(failedFacts(compileUncached(fleet, someNeed()), 'n', new Set(['n']), 0)).toEqual([
      { reason: 'excluded', fact: 'excluded from this job' },
    ]);
  });

  it('are unknown for an unknown node', () => {
    expect(
      failedFacts(compileUncached(createFleetView(), someNeed()), 'n', NO_EXCLUSIONS, 0),
    ).toBeUndefined();
  });

  it('name only some of very many languages', () => {
    const asr = Array.from({ length: 20 }, (_, n) => `l${n}`);
    const [fact] = factsOf({ profile: { ...anyProfile, asr } });
    expect(fact).toMatch(/it has l0, .*l7 and 12 more\)$/);
  });
});
