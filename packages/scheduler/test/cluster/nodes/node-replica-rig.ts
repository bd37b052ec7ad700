/** Several instances with a node replica each, on shared node records. The connection of each instance can be cut. */

import {
  createNodeReplica,
  type ReplicaBudget,
  type ReplicaSettings,
} from '../../../src/cluster/nodes/node-replica.ts';
import type { OwnNode } from '../../../src/cluster/nodes/publish-own-nodes.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { NodeRecords } from '../../../src/ports/node-records.ts';
import { fresh } from '../../contracts/harness.ts';
import { viewFor } from '../../contracts/node-record-fixtures.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

const NO_LIMITS: ReplicaBudget = { declare: () => undefined, drop() {} };

export const INTERVAL_MS = 1_000;

export const SETTINGS: ReplicaSettings = {
  tickMs: 500,
  verifyMs: 2_000,
  presenceMs: 3_600,
  enlistMs: 5_000,
  maxNodes: 1_000,
  readsPerTick: 100,
};

export const ownNode = (part: Partial<OwnNode> = {}, view: Partial<NodeView> = {}): OwnNode => {
  const nodeId = part.nodeId ?? fresh('node');
  return {
    nodeId,
    generation: 1,
    channel: 'socket',
    credential: 'credential-1',
    intervalMs: INTERVAL_MS,
    ...part,
    view: part.view ?? viewFor(nodeId, view),
  };
};

export function joinReplica(deps: {
  nodeRecords: NodeRecords;
  clock: Clock;
  name?: string;
  settings?: Partial<ReplicaSettings>;
  budget?: ReplicaBudget;
  warn?: (line: string) => void;
}) {
  const { nodeRecords, clock, name = fresh('instance') } = deps;
  const connection = { isCut: false, isDeaf: false, isFenced: false, incarnation: 'first' };
  /** The nodes of other instances, as selection has them. */
  const views = new Map<string, NodeView>();
  const received = { changed: 0, removed: [] as string[], overtaken: [] as string[], beats: 0 };
  const calls = { post: 0, seen: 0, read: 0, page: 0, enlist: 0, withdraw: 0, most: 0 };

  const through = <T>(method: keyof typeof calls, request: () => Promise<T>): Promise<T> => {
    calls[method] += 1;
    return connection.isCut ? Promise.reject(new Error('the store is away')) : request();
  };
  const guarded: NodeRecords = {
    post: (record, ttlMs) => through('post', () => nodeRecords.post(record, ttlMs)),
    seen: (record, ttlMs, at) => through('seen', () => nodeRecords.seen(record, ttlMs, at)),
    withdraw: (nodeId, generation) => through('withdraw', () => nodeRecords.withdraw(nodeId, generation)),
    enlist: (nodeIds) => through('enlist', () => nodeRecords.enlist(nodeIds)),
    read(requested) {
      calls.most = Math.max(calls.most, requested.length);
      return through('read', () => nodeRecords.read(requested));
    },
    page: (cursor, max) => through('page', () => nodeRecords.page(cursor, max)),
    subscribe: (listen) =>
      nodeRecords.subscribe((notices) => {
        if (!connection.isDeaf && !connection.isCut) listen(notices);
      }),
  };
  const replica = createNodeReplica({
    nodeRecords: guarded,
    clock,
    chance: () => 0.5,
    log: { ...QUIET, warn: (_, line) => deps.warn?.(line) },
    self: () => ({ instanceId: name, incarnation: connection.incarnation }),
    isFenced: () => connection.isFenced,
    budget: deps.budget ?? NO_LIMITS,
    settings: { ...SETTINGS, ...deps.settings },
    events: {
      changed({ view }) {
        received.changed += 1;
        views.set(view.nodeId, view);
      },
      beat: () => {
        received.beats += 1;
      },
      removed({ nodeId }) {
        received.removed.push(nodeId);
        views.delete(nodeId);
      },
      overtaken: (nodeId) => void received.overtaken.push(nodeId),
    },
  });
  return { replica, connection, views, received, calls };
}

/** A node that sends heartbeats until the returned function is called. */
export function beating(
  clock: Clock,
  replica: ReturnType<typeof joinReplica>['replica'],
  nodeId: string,
): () => void {
  let isEnded = false;
  const beat = (): void => {
    if (isEnded) return;
    replica.beat(nodeId, clock.now());
    clock.after(INTERVAL_MS, beat);
  };
  clock.after(INTERVAL_MS, beat);
  return () => {
    isEnded = true;
  };
}
