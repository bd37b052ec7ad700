/** The states of a node. */
import type { Static } from 'typebox';
import { anyOf, oneOf } from './bounded.ts';

export const NODE_STATUSES = ['registering', 'ready', 'degraded', 'draining', 'offline'] as const;
export type NodeStatusName = (typeof NODE_STATUSES)[number];

/** Open vocabulary: the scheduler may be newer than the node. */
export const nodeStatus = (description = 'State of the node') => anyOf(NODE_STATUSES, description);

/** The states that a node may report for itself. */
export const NodeHealth = oneOf(
  ['ready', 'degraded', 'draining', 'offline'],
  'State that the node reports for itself',
);
export type NodeHealth = Static<typeof NodeHealth>;
