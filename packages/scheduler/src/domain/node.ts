/** Vocabulary: a compute node as the rest of the scheduler sees it, and the table of its health. */
import type { NodeId } from './ids.ts';
import type { NodeProfile } from './profile.ts';
import type { Place } from './region.ts';

export const NODE_HEALTHS = ['registering', 'ready', 'degraded', 'draining', 'offline'] as const;
export type NodeHealth = (typeof NODE_HEALTHS)[number];

/** What a node may report about itself. */
export type ReportedHealth = Exclude<NodeHealth, 'registering'>;

export const NODE_EVENTS = ['registered', 'proved', 'faltered', 'drained', 'undrained', 'expired'] as const;
export type NodeEvent = (typeof NODE_EVENTS)[number];

/**
 * The next state for each event; an absent entry means that the event changes nothing. `proved`: enough healthy heartbeats; `faltered`: too
 * many unhealthy ones, the warm-up took too long, or the node reported itself degraded; `expired`: no heartbeat for too long, the connection ended and the node did not
 * reconnect, or the node reported itself offline.
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
 * Everything that selection knows of a node except its load, which changes far more often and is published separately. A new object per
 * change; unchanged parts (`profile`) keep their identity.
 */
export interface NodeView extends Place {
  readonly nodeId: NodeId;
  readonly profile: NodeProfile;
  readonly health: NodeHealth;
  /** False: its socket is closed. Always true for a node without a socket. */
  readonly isConnected: boolean;
  /** The last heartbeat is within the stale limit. */
  readonly isFresh: boolean;
  /** Below the resource thresholds. */
  readonly isCalm: boolean;
  /** The node's own queue is not empty: such nodes are chosen last. */
  readonly isQueueing: boolean;
  /** An operator keeps new jobs away. */
  readonly isCordoned: boolean;
  /** Why an operator cordoned or drained the node; absent: no reason was given, or the node was uncordoned. */
  readonly orderReason?: string;
  /** Ejected because it failed too often; see management/health/ejection. */
  readonly isEjected: boolean;
  readonly slots: number;
  readonly lastBeatAt: number;
  /** When it stops, as it has announced; absent: it stays. */
  readonly leavingAt?: number | undefined;
  /** Services marked unavailable by MODEL_NOT_AVAILABLE, until their mark ends. */
  readonly markedServices: readonly string[];
  /** Service types that only marked services of the node provide. */
  readonly markedTypes: readonly string[];
  /** When each of them may be used again: first the services, then the types. Absent without marks. */
  readonly marksEndAt?: readonly number[] | undefined;
}

/** What operators ordered for a node, until an uncordon. */
export interface NodeOrders {
  readonly isCordoned: boolean;
  readonly isDrained: boolean;
  /** Of the last order. */
  readonly reason?: string;
}

/** Its health allows new reservations. The ledger enforces the same rule. */
export const isAccepting = (view: Pick<NodeView, 'health' | 'isCordoned'>): boolean =>
  view.health === 'ready' && !view.isCordoned;
