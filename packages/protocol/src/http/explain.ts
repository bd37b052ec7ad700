/** Why a node is chosen, or none: the decision that a dispatch would get now, and the pools it is made of. */
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

export const ExplainRequest = Type.Object(
  {
    ...DispatchRequest.properties,
    node_id: extension(id('Say of this node what speaks against it; for operators')),
    exclude_node_id: extension(id('Decide as if this node were not there')),
  },
  {
    title: 'ExplainRequest',
    description: 'A dispatch as it would be handed in; nothing is dispatched, reserved or kept',
    anyOf: [{ required: ['audio_ref'] }, { required: ['audio'] }],
    expects: 'say where the audio is, or send it in base64',
  },
);
export type ExplainRequest = Static<typeof ExplainRequest>;

const poolId = () => count('Pool; −1: nodes that no pool takes', { minimum: -1, maximum: 65_535 });

export const PoolAttempt = Type.Object(
  {
    pool_id: poolId(),
    pool_name: optional(label('Its name')),
    reason: label(
      'ok; or why it has no candidate: no_nodes, missing_core_{asr,nmt,tts}_{installed,not_ready}, or the reason that took out most of its nodes',
    ),
    candidates: count('Nodes in it that could take the job now'),
  },
  { title: 'PoolAttempt', description: 'A pool that is looked into' },
);
export type PoolAttempt = Static<typeof PoolAttempt>;

export const ExplainedRequirements = Type.Object(
  {
    directions: list(
      Type.Object({
        source: language('Source language; any: whatever is spoken'),
        target: language('Target'),
      }),
      2048,
      'Translations that the one node must be able to do',
    ),
    types: list(label('Type'), 64, 'Types of services that must be ready'),
    services: list(serviceName('Service'), 64, 'Services that must be ready'),
    features: list(label('Feature'), 64, 'Features, with those they depend on'),
    audio_by_reference: flag('The node must fetch the audio itself'),
    public_node: flag('The node must take jobs of everybody'),
  },
  { title: 'ExplainedRequirements', description: 'What the job requires of a node, as it was understood' },
);
export type ExplainedRequirements = Static<typeof ExplainedRequirements>;

export const ExplainedReason = Type.Object(
  {
    reason: label('Why nodes are passed over'),
    count: count('How many nodes; each is counted once, under its first reason'),
    sample_node_ids: optional(list(id('Node'), 5, 'Some of them; only for operators')),
  },
  { title: 'ExplainedReason', description: 'How many nodes are passed over for one reason' },
);
export type ExplainedReason = Static<typeof ExplainedReason>;

export const ExplainedNode = Type.Object(
  {
    node_id: id('Node'),
    known: flag('It is registered'),
    candidate: flag('It could be chosen now'),
    pool_ids: list(poolId(), 16, 'Pools it is in'),
    failed: list(
      Type.Object({ reason: label('Reason'), fact: text('What is not so, for a person', 4096) }),
      4096,
      'All that speaks against it',
    ),
  },
  { title: 'ExplainedNode', description: 'What speaks against one node' },
);
export type ExplainedNode = Static<typeof ExplainedNode>;

export const ExplainReply = Type.Object(
  {
    outcome: oneOf(
      ['dispatch', 'wait', 'refuse'],
      'dispatch: somebody could take it now; wait: it would wait for at most wait_ms',
    ),
    refusal: optional(
      Type.Object(
        { code: anyOf(ERROR_CODES, 'Error code'), message: text('What the refusal would say') },
        { title: 'ExplainedRefusal', description: 'What a dispatch would be answered now, without waiting' },
      ),
    ),
    candidate_node_id: optional(
      id('A node that could be chosen; which one is decided by chance. Only for operators'),
    ),
    tenant_id: id('Tenant whose job it would be'),
    requirements: ExplainedRequirements,
    total_nodes: count('All nodes'),
    eligible_nodes: count('Nodes nothing speaks against'),
    reasons: list(ExplainedReason, 64, 'Why the others are passed over'),
    pools: list(PoolAttempt, 2048, 'Pools in the order they are looked into, up to the one that has a node'),
    preferred_pool: optional(poolId()),
    selected_pool: optional(poolId()),
    fallback_used: flag('The preferred pool had nobody, a later one has'),
    confinement: optional(
      oneOf(
        ['tenant_pool', 'tenant_pool_not_eligible', 'no_fallback', 'no_eligible_pool'],
        'Why the job may not go to other pools',
      ),
    ),
    node: optional(ExplainedNode),
  },
  { title: 'ExplainReply', description: 'The decision that would be made now, and why' },
);
export type ExplainReply = Static<typeof ExplainReply>;

export const SimulateQuery = Type.Object(
  {
    routing_key: optional(id('What pools are chosen by; absent: tenant_id, else session_id')),
    tenant_id: optional(id('Tenant')),
    session_id: optional(id('Session')),
    required: optional(
      list(serviceName('Service'), 16, 'Id or type of a service that must be ready; may be repeated'),
    ),
    src_lang: optional(language('Source language; zh if absent')),
    tgt_lang: optional(language('Target language; en if absent')),
    accept_public: optional(flag('Only nodes that take jobs of everybody; true if absent')),
    exclude_node_id: optional(id('Decide as if this node were not there')),
  },
  { title: 'SimulateQuery', description: 'Which job to find a node for' },
);
export type SimulateQuery = Static<typeof SimulateQuery>;

/** Written as an array of three, which every JSON Schema dialect spells alike. */
const attempt = Type.Unsafe<[pool_id: number, reason: string, candidates: number]>({
  type: 'array',
  items: anything('Number of the pool, then reason, then number of candidates'),
  minItems: 3,
  maxItems: 3,
  description: '[pool_id, reason, candidates]',
});

export const SimulateReply = Type.Object(
  {
    routing_key: text('What pools are chosen by', 256),
    required: list(label('Service'), 16, 'As asked for'),
    selected_node_id: optional(id('A node that could be chosen; which one is decided by chance')),
    debug: Type.Object(
      {
        pool_count: count('Pools there are; 0: the nodes are not divided'),
        preferred_pool: optional(poolId()),
        selected_pool: optional(poolId()),
        fallback_used: flag('The preferred pool had nobody, a later one has'),
        attempts: list(attempt, 2048, 'Pools in the order they are looked into'),
      },
      { title: 'SimulateDebug', description: 'How the pool was found' },
    ),
    breakdown: map<number>(
      count('Nodes'),
      128,
      'total_nodes, eligible, and for each reason how many nodes are passed over for it',
    ),
  },
  { title: 'SimulateReply', description: 'Where such a job would go' },
);
export type SimulateReply = Static<typeof SimulateReply>;

const services = (description: string) => map<number>(count('Nodes'), 16, description);
const samples = list(id('Node'), 5, 'Some of them');

export const PoolView = Type.Object(
  {
    pool_id: poolId(),
    pool_name: optional(label('Its name')),
    pool_required_services: optional(
      list(label('Service'), 1024, 'What its nodes have installed; absent: divided by hash'),
    ),
    total_nodes: count('Nodes in it'),
    online_nodes: count('Nodes that are not offline'),
    ready_nodes: count('Nodes whose health is ready'),
    core_services_installed: services(
      'Core service, or its type where none is configured → nodes that have it',
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
      description: 'scheduler.phase3 as it is in force',
    }),
    pools: list(PoolView, 2048, 'All pools by number, also those without nodes'),
    unpooled: extension(
      Type.Object(
        { total_nodes: count('Nodes'), sample_node_ids: samples },
        { title: 'UnpooledNodes', description: 'Nodes that no pool takes' },
      ),
    ),
  },
  { title: 'PoolsReply', description: 'Pools as they are in force on this instance' },
);
export type PoolsReply = Static<typeof PoolsReply>;
