/** Vocabulary: a compute node as the rest of the scheduler sees it, and the table of its health. */
import type { NodeId } from './ids.ts';
import type { NodeProfile } from './profile.ts';

export const NODE_HEALTHS = ['registering', 'ready', 'degraded', 'draining', 'offline'] as const;
export type NodeHealth = (typeof NODE_HEALTHS)[number];

export const NODE_EVENTS = ['registered', 'proved', 'faltered', 'drained', 'undrained', 'expired'] as const;
export type NodeEvent = (typeof NODE_EVENTS)[number];

/**
 * What each event does in each state; an absent entry means the event changes nothing.
 * `proved`: enough good heartbeats; `faltered`: too many bad ones, or warm-up took too long;
 * `expired`: no heartbeat for too long, or the connection ended and nobody came back.
 */
export const NODE_NEXT: Readonly<Record<NodeHealth, Partial<Record<NodeEvent, NodeHealth>>>> = {
  registering: {
    registered: 'registering',
    proved: 'ready',
    faltered: 'degraded',
    drained: 'draining',
    expired: 'offline',
  },
  ready: { registered: 'registering', faltered: 'degraded', drained: 'draining', expired: 'offline' },
  degraded: { registered: 'registering', proved: 'ready', drained: 'draining', expired: 'offline' },
  draining: { registered: 'registering', undrained: 'registering', expired: 'offline' },
  offline: { registered: 'registering' },
};

export const nextHealth = (health: NodeHealth, event: NodeEvent): NodeHealth =>
  NODE_NEXT[health][event] ?? health;

/** How a node gets its jobs. */
export type NodeChannel = 'socket' | 'endpoint' | 'mailbox';

/**
 * Everything selection may know of a node except its load, which changes far more often and travels alone.
 * A new object per change; unchanged parts (`profile`) keep their identity.
 */
export interface NodeView {
  readonly nodeId: NodeId;
  readonly profile: NodeProfile;
  readonly health: NodeHealth;
  /** Heard of within its stale limit. */
  readonly isFresh: boolean;
  /** Below the resource thresholds. */
  readonly isCalm: boolean;
  /** The node's own queue is not empty: such nodes are taken last. */
  readonly isQueueing: boolean;
  /** An operator keeps new work away. */
  readonly isCordoned: boolean;
  /** Thrown out for failing too often; see management/ejection. */
  readonly isEjected: boolean;
  readonly slots: number;
  readonly lastBeatAt: number;
  /** Services marked unavailable by MODEL_NOT_AVAILABLE, until their mark ends. */
  readonly markedServices: readonly string[];
  /** Types of service that only marked services could do there. */
  readonly markedTypes: readonly string[];
}

/** New jobs may be reserved on it, as far as its health goes. The ledger enforces the same word. */
export const isAccepting = (view: Pick<NodeView, 'health' | 'isCordoned'>): boolean =>
  view.health === 'ready' && !view.isCordoned;
