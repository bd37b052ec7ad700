/** Why a node is chosen, or none: the decision for a dispatch at this moment, the pools behind it, and the languages that can be offered. */
import { type Static, Type } from 'typebox';
import { ERROR_CODES } from '../error-codes.ts';
import {
  anyOf,
  anything,
  count,
  extension,
  flag,
  id,
  label,
  language,
  list,
  map,
  oneOf,
  optional,
  serviceName,
  text,
} from '../shared/bounded.ts';
import { DispatchRequest } from './dispatch.ts';
import { MOST_TARGETS, TranslateRequest } from './translate.ts';

export const ExplainRequest = Type.Object(
  {
    ...DispatchRequest.properties,
    tgt_lang: TranslateRequest.properties.tgt_lang,
    tgt_langs: TranslateRequest.properties.tgt_langs,
    text: extension(TranslateRequest.properties.text),
    node_id: extension(id('List every reason against this node; for operators')),
    exclude_node_id: extension(id('Decide as if this node did not exist')),
  },
  {
    title: 'ExplainRequest',
    description:
      'A dispatch or a translation as it would be submitted; nothing is dispatched, reserved or stored',
    anyOf: [{ required: ['audio_ref'] }, { required: ['audio'] }, { required: ['text'] }],
    expects: 'send the address of the audio, the audio itself in base64, or text',
  },
);
export type ExplainRequest = Static<typeof ExplainRequest>;

const STAGE_NAMES = ['asr', 'semantic', 'nmt', 'tts'] as const;

const refusal = Type.Object(
  { code: anyOf(ERROR_CODES, 'Error code'), message: text('Text of the refusal') },
  {
    title: 'ExplainedRefusal',
    description: 'The refusal that a dispatch would get now, without waiting',
  },
);

const poolId = () => count('Pool; −1: nodes outside all pools', { minimum: -1, maximum: 65_535 });

export const PoolAttempt = Type.Object(
  {
    pool_id: poolId(),
    pool_name: optional(label('Its name')),
    reason: label(
      'ok; or why it has no candidate: no_nodes, missing_core_{asr,nmt,tts}_{installed,not_ready}, or the reason that rejected most of its nodes',
    ),
    candidates: count('Nodes in it that could take the job now'),
  },
  { title: 'PoolAttempt', description: 'A pool that was considered' },
);
export type PoolAttempt = Static<typeof PoolAttempt>;

export const ExplainedRequirements = Type.Object(
  {
    directions: list(
      Type.Object({
        source: language('Source language; any: every language'),
        target: language('Target'),
      }),
      2048,
      'Translations that one node must support',
    ),
    types: list(label('Type'), 64, 'Types of services that must be ready'),
    services: list(serviceName('Service'), 64, 'Services that must be ready'),
    features: list(label('Feature'), 64, 'Features, with those they depend on'),
    audio_by_reference: flag('The node must fetch the audio itself'),
    public_node: flag('The node must accept jobs of all tenants'),
  },
  { title: 'ExplainedRequirements', description: 'The requirements of the job for a node, as understood' },
);
export type ExplainedRequirements = Static<typeof ExplainedRequirements>;

export const ExplainedReason = Type.Object(
  {
    reason: label('Why nodes are rejected'),
    count: count('How many nodes; each is counted once, under its first reason'),
    sample_node_ids: optional(list(id('Node'), 5, 'Some of them; only for operators')),
  },
  { title: 'ExplainedReason', description: 'Number of nodes rejected for one reason' },
);
export type ExplainedReason = Static<typeof ExplainedReason>;

export const ExplainedNode = Type.Object(
  {
    node_id: id('Node'),
    known: flag('It is registered'),
    candidate: flag('It could be chosen now'),
    pool_ids: list(poolId(), 16, 'Pools it is in'),
    failed: list(
      Type.Object({ reason: label('Reason'), fact: text('The failed condition, as text for people', 4096) }),
      4096,
      'Every reason against it',
    ),
  },
  { title: 'ExplainedNode', description: 'The reasons against one node' },
);
export type ExplainedNode = Static<typeof ExplainedNode>;

const chainId = (description: string) => label(description);

export const ExplainedChain = Type.Object(
  {
    chain_id: chainId('Names the chain within the plan'),
    stages: list(oneOf(STAGE_NAMES, 'Stage'), STAGE_NAMES.length, 'What its job does, in order'),
    input: oneOf(['audio', 'text'], 'What its job gets'),
    src_lang: language('Language of the input'),
    tgt_lang: language('Language of the output'),
    after: optional(chainId('The chain whose text is its input; absent: the input of the request')),
    outcome: oneOf(
      ['dispatch', 'wait', 'refuse'],
      'dispatch: a node could take it now; wait: its job would wait for at most wait_ms',
    ),
    refusal: optional(refusal),
    candidate_node_id: optional(id('A node that could be chosen. Only for operators')),
    eligible_nodes: count('Nodes without a reason against them'),
    reasons: list(ExplainedReason, 64, 'Why the other nodes are rejected'),
  },
  { title: 'ExplainedChain', description: 'A job of the plan: a run of stages on one node' },
);
export type ExplainedChain = Static<typeof ExplainedChain>;

export const ExplainedTarget = Type.Object(
  {
    tgt_lang: language('Target language'),
    path: list(language('Language'), 3, 'Languages of the text on its way; three with a pivot'),
    text_from: optional(chainId('The chain that yields the text; absent: it is the input, or missing')),
    voice_from: optional(
      chainId('The chain that yields the voice; absent: none is wanted, or it is missing'),
    ),
    missing: optional(
      oneOf(['recognition', 'translation', 'voice'], 'The first stage that no node can do for this language'),
    ),
    why: list(text('Sentence for people', 512), 4, 'Why it is served this way'),
  },
  { title: 'ExplainedTarget', description: 'How one language would be served' },
);
export type ExplainedTarget = Static<typeof ExplainedTarget>;

export const ExplainedPlan = Type.Object(
  {
    chains: list(ExplainedChain, 2 + 3 * MOST_TARGETS, 'Its jobs; a chain stands behind the one it needs'),
    targets: list(ExplainedTarget, MOST_TARGETS, 'One entry per language of tgt_langs'),
    continued: flag(
      'src_lang is auto: the rest is planned when the language is recognised, so targets is empty',
    ),
  },
  { title: 'ExplainedPlan', description: 'How POST /v1/translate would serve all languages now' },
);
export type ExplainedPlan = Static<typeof ExplainedPlan>;

export const ExplainedDistance = Type.Object(
  {
    regions: list(id('Region'), 64, 'Regions that are equally near; empty: all others'),
    round_trip_ms: count('Time there and back'),
    candidates: count('Nodes there that could take the job now, pools aside'),
  },
  { title: 'ExplainedDistance', description: 'Regions at one distance from the request' },
);
export type ExplainedDistance = Static<typeof ExplainedDistance>;

export const ExplainReply = Type.Object(
  {
    outcome: oneOf(
      ['dispatch', 'wait', 'refuse'],
      'dispatch: a node could take it now; wait: it would wait for at most wait_ms',
    ),
    refusal: optional(refusal),
    candidate_node_id: optional(
      id('A node that could be chosen now; the next choice may differ. Only for operators'),
    ),
    tenant_id: id('Tenant of the job'),
    requirements: ExplainedRequirements,
    total_nodes: count('All nodes'),
    eligible_nodes: count('Nodes without a reason against them'),
    reasons: list(ExplainedReason, 64, 'Why the other nodes are rejected'),
    pools: list(PoolAttempt, 2048, 'Pools in the order they are tried, up to the one that has a node'),
    preferred_pool: optional(poolId()),
    selected_pool: optional(poolId()),
    fallback_used: flag('The preferred pool had no node, a later one has'),
    confinement: optional(
      oneOf(
        ['tenant_pool', 'tenant_pool_not_eligible', 'no_fallback', 'no_eligible_pool'],
        'Why the job may not use other pools',
      ),
    ),
    node: optional(ExplainedNode),
    residency: extension(list(id('Region'), 64, 'The only regions that the tenant allows; absent: all')),
    regions: extension(
      list(ExplainedDistance, 65, 'Regions in the order they are tried; absent: no region is preferred'),
    ),
    plan: extension(ExplainedPlan),
  },
  {
    title: 'ExplainReply',
    description:
      'The decision that would be made now for one job with all stages, for tgt_lang, and why; with tgt_langs also the plan for all languages',
  },
);
export type ExplainReply = Static<typeof ExplainReply>;

export const SimulateQuery = Type.Object(
  {
    routing_key: optional(id('Key that selects the pool; absent: tenant_id, else session_id')),
    tenant_id: optional(id('Tenant')),
    session_id: optional(id('Session')),
    required: optional(
      list(serviceName('Service'), 16, 'Id or type of a service that must be ready; may be repeated'),
    ),
    src_lang: optional(language('Source language; zh if absent')),
    tgt_lang: optional(language('Target language; en if absent')),
    accept_public: optional(flag('False: also nodes that are private to other tenants; true if absent')),
    exclude_node_id: optional(id('Decide as if this node did not exist')),
  },
  { title: 'SimulateQuery', description: 'Which job to find a node for' },
);
export type SimulateQuery = Static<typeof SimulateQuery>;

/** An array of three, which every JSON Schema dialect expresses alike. */
const attempt = Type.Unsafe<[pool_id: number, reason: string, candidates: number]>({
  type: 'array',
  items: anything('Number of the pool, then reason, then number of candidates'),
  minItems: 3,
  maxItems: 3,
  description: '[pool_id, reason, candidates]',
});

export const SimulateReply = Type.Object(
  {
    routing_key: text('Key that selects the pool', 256),
    required: list(label('Service'), 16, 'As requested'),
    selected_node_id: optional(id('A node that could be chosen now; the next choice may differ')),
    debug: Type.Object(
      {
        pool_count: count('Number of pools; 0: the fleet has no pools'),
        preferred_pool: optional(poolId()),
        selected_pool: optional(poolId()),
        fallback_used: flag('The preferred pool had no node, a later one has'),
        attempts: list(attempt, 2048, 'Pools in the order they are tried'),
      },
      { title: 'SimulateDebug', description: 'How the pool was found' },
    ),
    breakdown: map<number>(
      count('Nodes'),
      128,
      'total_nodes, eligible, and for each reason the number of nodes it rejected',
    ),
  },
  { title: 'SimulateReply', description: 'Where such a job would be placed' },
);
export type SimulateReply = Static<typeof SimulateReply>;

const services = (description: string) => map<number>(count('Nodes'), 16, description);
const samples = list(id('Node'), 5, 'Some of them');

export const PoolView = Type.Object(
  {
    pool_id: poolId(),
    pool_name: optional(label('Its name')),
    pool_required_services: optional(
      list(label('Service'), 1024, 'Services that its nodes have installed; absent: divided by hash'),
    ),
    total_nodes: count('Nodes in it'),
    online_nodes: count('Nodes that are not offline'),
    ready_nodes: count('Nodes whose health is ready'),
    core_services_installed: services(
      'Core service, or its type where none is configured → nodes that have it installed',
    ),
    core_services_ready: services('The same → nodes on which it is ready and not marked unavailable'),
    sample_node_ids: samples,
  },
  { title: 'PoolView', description: 'A pool and its nodes' },
);
export type PoolView = Static<typeof PoolView>;

export const PoolsReply = Type.Object(
  {
    config: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: anything('Setting'),
      description: 'scheduler.pools as in force',
    }),
    pools: list(PoolView, 2048, 'All pools by number, also those without nodes'),
    unpooled: extension(
      Type.Object(
        { total_nodes: count('Nodes'), sample_node_ids: samples },
        { title: 'UnpooledNodes', description: 'Nodes outside all pools' },
      ),
    ),
  },
  { title: 'PoolsReply', description: 'Pools in force on this instance' },
);
export type PoolsReply = Static<typeof PoolsReply>;

const MOST_OFFERED = 64;

export const OfferedLanguagesQuery = Type.Object(
  {
    src: language('Language that is spoken'),
    tenant_id: optional(id('Tenant; for callers that may act for several')),
  },
  { title: 'OfferedLanguagesQuery', description: 'The language of the speaker' },
);
export type OfferedLanguagesQuery = Static<typeof OfferedLanguagesQuery>;

export const OfferedLanguage = Type.Object(
  {
    lang: language('Language'),
    voice: flag('A node can speak it; otherwise there are only captions'),
  },
  { title: 'OfferedLanguage', description: 'A language that can be offered' },
);
export type OfferedLanguage = Static<typeof OfferedLanguage>;

export const OfferedLanguages = Type.Object(
  {
    src_lang: language('As asked, in its short form'),
    languages: list(OfferedLanguage, MOST_OFFERED, 'By name. Empty: no node recognises the source'),
  },
  {
    title: 'OfferedLanguages',
    description: 'The languages into which the fleet can translate speech now, by the facts of explain',
  },
);
export type OfferedLanguages = Static<typeof OfferedLanguages>;
