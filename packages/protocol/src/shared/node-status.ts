/** The states of a node as others see them. */
import type { Static } from 'typebox';
import { anyOf, oneOf } from './bounded.ts';

export const NODE_STATUSES = ['registering', 'ready', 'degraded', 'draining', 'offline'] as const;
export type NodeStatusName = (typeof NODE_STATUSES)[number];

/** Open, because a node of today must understand a scheduler of tomorrow. */
export const nodeStatus = (description = 'State of the node') => anyOf(NODE_STATUSES, description);

/** What a node may say about itself. */
export const NodeHealth = oneOf(['ready', 'degraded', 'draining', 'offline'], 'How the node judges itself');
export type NodeHealth = Static<typeof NodeHealth>;
