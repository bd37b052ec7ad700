/** Composition root: what all instances share, as this one may use it: not while it is fenced, and not against what it knows better. */

import { guardNodeIdClaims } from '../cluster/guards/node-id-claims.ts';
import { unlessFenced } from '../cluster/membership/fencing.ts';
import type { NodeId } from '../domain/ids.ts';
import type { SharedStore } from './redis-store.ts';

const ANSWERED_AT_ONCE = ['drives', 'levels', 'watchersOf'] as const;

export function guardStore(deps: {
  store: SharedStore;
  isFenced: () => boolean;
  /** Whose a node is, as far as this instance knows. */
  credentialOf: (nodeId: NodeId) => string | undefined;
}) {
  const { store, isFenced, credentialOf } = deps;
  return {
    ledger: unlessFenced(store.ledger, isFenced),
    mailbox: unlessFenced(store.mailbox, isFenced),
    sessions: unlessFenced(store.sessions, isFenced),
    locks: unlessFenced(store.locks, isFenced),
    modelDebounce: unlessFenced(store.modelDebounce, isFenced),
    nodeIdClaims: guardNodeIdClaims({
      nodeIdClaims: unlessFenced(store.nodeIdClaims, isFenced),
      credentialOf,
    }),
    jobs: (by: Parameters<SharedStore['jobs']>[0]) =>
      unlessFenced(store.jobs(by), isFenced, ANSWERED_AT_ONCE),
  };
}
