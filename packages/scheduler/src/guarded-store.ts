/** Composition root: what all instances share, behind its guard: not asked while this one is fenced, and not waited for while it is away. */
import { guarded } from './cluster/guard.ts';
import { createOutage, NO_OUTAGE } from './cluster/outage.ts';
import { createDirectoryOfMany } from './directory-of-many.ts';
import type { NodeId } from './domain/ids.ts';
import type { Clock } from './ports/clock.ts';
import type { SharedStore } from './shared-store.ts';

const PROBE_MS = 100;
const ANSWERED_AT_ONCE = ['drives', 'levels', 'watchersOf'] as const;

export function guardStore(deps: {
  store: SharedStore;
  clock: Clock;
  isFenced: () => boolean;
  /** Whose a node is, as far as this instance knows. */
  credentialOf: (nodeId: NodeId) => string | undefined;
}) {
  const { store, clock, isFenced, credentialOf } = deps;
  const outage =
    store.mode === 'cluster'
      ? NO_OUTAGE
      : createOutage({ clock, probe: store.probe, probeEveryMs: PROBE_MS });
  const guard = { isFenced, outage };
  return {
    ledger: guarded(store.ledger, guard),
    mailbox: guarded(store.mailbox, guard),
    sessions: guarded(store.sessions, guard),
    directory: createDirectoryOfMany({ directory: guarded(store.directory, guard), credentialOf }),
    jobs: (by: Parameters<SharedStore['jobs']>[0]) => guarded(store.jobs(by), guard, ANSWERED_AT_ONCE),
    isAway: (): boolean => isFenced() || outage.isOn() || !store.isReachable(),
    /** Somebody was answered. */
    returned: outage.over,
    stop: outage.stop,
  };
}
