/** Nodes, needs and chance for the tests of the fleet and of selection. */
import fc from 'fast-check';
import { ANY } from '../../../src/domain/language.ts';
import { NODE_HEALTHS, type NodeView } from '../../../src/domain/node.ts';
import { type NodeProfile, nmtProduct } from '../../../src/domain/profile.ts';
import type { Chance } from '../../../src/ports/chance.ts';
import type { NamedNeed } from './named-pools.ts';

export const anyProfile: NodeProfile = {
  installedTypes: ANY,
  readyTypes: ANY,
  installedServices: [],
  readyServices: [],
  asr: ANY,
  semantic: ANY,
  tts: ANY,
  nmt: nmtProduct(ANY, ANY),
  features: [],
  hasGpu: true,
  supports: ['job_ack'],
  isLegacy: false,
};

export const nodeView = (nodeId: string, part: Partial<NodeView> = {}): NodeView => ({
  nodeId,
  profile: anyProfile,
  health: 'ready',
  isConnected: true,
  isFresh: true,
  isCalm: true,
  isQueueing: false,
  isCordoned: false,
  isEjected: false,
  slots: 4,
  lastBeatAt: 0,
  markedServices: [],
  markedTypes: [],
  ...part,
});

export const someNeed = (part: Partial<NamedNeed> = {}): NamedNeed => ({
  tenantId: 'tenant',
  sessionId: 'session',
  directions: [{ source: 'en', target: 'zh' }],
  isSourceAuto: false,
  usesAsr: true,
  usesNmt: true,
  usesTts: true,
  types: [],
  services: [],
  isAudioByReference: false,
  isPairUnknown: false,
  needsPublicNode: false,
  isStrict: false,
  ...part,
});

/** Mulberry32: small, seeded and good enough for a chi-square test. */
export function seededChance(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const LANGUAGES = ['en', 'zh', 'de'] as const;
const SERVICES = ['s1', 's2'] as const;
const FEATURES = ['emotion_detection', 'speaker_identification'] as const;
/** One of them provides a feature. */
const MARKED = [...SERVICES, 'emotion-xlm-r'];
const TYPES = ['asr', 'nmt', 'tts', 'semantic', 'tone'] as const;

const language = fc.constantFrom(...LANGUAGES);
const languages = fc.oneof(
  { weight: 1, arbitrary: fc.constant(ANY) },
  { weight: 3, arbitrary: fc.subarray([...LANGUAGES], { minLength: 1 }) },
  { weight: 1, arbitrary: fc.subarray([...LANGUAGES]) },
);
const direction = fc.record({ source: language, target: language });
const types = fc.oneof(
  { weight: 3, arbitrary: fc.constant(ANY) },
  { weight: 2, arbitrary: fc.constant([...TYPES]) },
  { weight: 1, arbitrary: fc.subarray([...TYPES], { minLength: 3 }) },
);
const mostly = fc.integer({ min: 0, max: 7 }).map((n) => n > 0);
const rarely = mostly.map((isMostly) => !isMostly);

const TENANTS = ['acme', 'globex'] as const;

const profile: fc.Arbitrary<NodeProfile> = fc
  .record({
    installedTypes: types,
    readyTypes: types,
    installedServices: fc.subarray([...SERVICES]),
    readyServices: fc.subarray([...SERVICES]),
    asr: languages,
    semantic: languages,
    tts: languages,
    nmt: fc.record({
      sources: languages,
      targets: languages,
      blocked: fc.array(direction, { maxLength: 4 }),
      pairs: fc.array(direction, { maxLength: 2 }),
    }),
    features: fc.subarray([...FEATURES, 'unheard_of', '0', '1', '2']),
    hasGpu: fc.boolean(),
    supports: fc.subarray(['job_ack', 'audio_ref', 'text_input', 'interim'] as const),
    isLegacy: fc.boolean(),
    privateTo: fc.option(fc.constantFrom(...TENANTS), { nil: undefined }),
    binding: fc.option(fc.constantFrom({}, { tenantId: 'acme' }, { poolIds: [1] }), { nil: undefined }),
  })
  .map(({ privateTo, binding, ...part }) => ({
    ...part,
    ...(privateTo !== undefined && { privateTo }),
    ...(binding !== undefined && { binding }),
  }));

/** Few profiles, so that nodes share them as real ones do. */
const profiles = fc.array(profile, { minLength: 1, maxLength: 4 });

const viewOf = (nodeId: fc.Arbitrary<string>, pool: readonly NodeProfile[]): fc.Arbitrary<NodeView> =>
  fc.record({
    nodeId,
    profile: fc.constantFrom(...pool),
    health: fc.oneof(
      { weight: 6, arbitrary: fc.constant('ready' as const) },
      fc.constantFrom(...NODE_HEALTHS),
    ),
    isConnected: mostly,
    isFresh: mostly,
    isCalm: mostly,
    isQueueing: rarely,
    isCordoned: rarely,
    isEjected: rarely,
    slots: fc.integer({ min: 0, max: 4 }),
    lastBeatAt: fc.integer({ min: 0, max: 3 }),
    markedServices: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray(MARKED)),
    markedTypes: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray([...TYPES])),
  });

export type FleetStep =
  | { readonly kind: 'upsert'; readonly view: NodeView }
  | { readonly kind: 'remove'; readonly nodeId: string }
  | { readonly kind: 'load'; readonly nodeId: string; readonly used: number; readonly max: number };

/** A history of at most `nodes` nodes beside many equal ones: facts of many nodes are stored in another way. */
export const fleetSteps = (nodes: number, maxLength: number, crowds = [0]): fc.Arbitrary<FleetStep[]> =>
  profiles.chain((pool) => {
    const crowd = fc
      .tuple(fc.constantFrom(...crowds), viewOf(fc.constant('crowd'), pool))
      .map(([size, view]) =>
        Array.from({ length: size }, (_, n) => ({
          kind: 'upsert' as const,
          view: { ...view, nodeId: `c${n}` },
        })),
      );
    const nodeId = fc.integer({ min: 0, max: nodes - 1 }).map((n) => `n${n}`);
    const step: fc.Arbitrary<FleetStep> = fc.oneof(
      { weight: 5, arbitrary: viewOf(nodeId, pool).map((view) => ({ kind: 'upsert' as const, view })) },
      { weight: 1, arbitrary: nodeId.map((id) => ({ kind: 'remove' as const, nodeId: id })) },
      {
        weight: 3,
        arbitrary: fc
          .record({ nodeId, used: fc.integer({ min: 0, max: 4 }), max: fc.integer({ min: 0, max: 4 }) })
          .map((load) => ({ kind: 'load' as const, ...load })),
      },
    );
    return fc
      .tuple(crowd, fc.array(step, { maxLength, size: 'max' }))
      .map(([many, few]) => [...many, ...few]);
  });

export const anyNeed: fc.Arbitrary<NamedNeed> = fc
  .record({
    directions: fc.array(
      fc.record({ source: fc.oneof({ weight: 4, arbitrary: language }, fc.constant(ANY)), target: language }),
      { minLength: 1, maxLength: 2 },
    ),
    isSourceAuto: rarely,
    usesAsr: mostly,
    usesNmt: mostly,
    usesTts: fc.boolean(),
    skipsSemantic: rarely,
    isTextInput: rarely,
    isPartial: rarely,
    isInterim: rarely,
    types: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.constant(['tone'])),
    services: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray([...SERVICES])),
    features: fc.option(fc.subarray([...FEATURES]), { nil: undefined, freq: 3 }),
    isAudioByReference: rarely,
    isPairUnknown: rarely,
    needsPublicNode: mostly,
    tenantId: fc.constantFrom('tenant', ...TENANTS),
    preferredNodeId: fc.option(
      fc.integer({ min: 0, max: 20 }).map((n) => `n${n}`),
      { nil: undefined },
    ),
    poolIds: fc.option(fc.shuffledSubarray([0, 1, 2]), { nil: undefined }),
  })
  .map(({ preferredNodeId, poolIds, features, ...part }) =>
    someNeed({
      ...part,
      ...(preferredNodeId === undefined ? {} : { preferredNodeId }),
      ...(poolIds === undefined ? {} : { poolIds }),
      ...(features === undefined ? {} : { features }),
    }),
  );
