/** The rig with a fault wrapper around its store and its ledger, without faults until a test plans one. */
import type { CapacityLedger } from '../../../src/ports/capacity-ledger.ts';
import type { JobStore } from '../../../src/ports/job-store.ts';
import { type Faulty, faulty } from '../../support/faulty.ts';
import { createRig, type Rig, type RigOptions } from './rig.ts';

export interface FaultyRig {
  readonly rig: Rig;
  readonly store: Faulty<JobStore>;
  readonly ledger: Faulty<CapacityLedger>;
  /** Only the move after `skipped` more moves meets the fault. */
  strikeMove(fault: 'throw' | 'throw_after_effect', skipped?: number): void;
}

export function createFaultyRig(settings: RigOptions['settings'] = {}): FaultyRig {
  let store: Faulty<JobStore> | undefined;
  let ledger: Faulty<CapacityLedger> | undefined;
  const rig = createRig({
    settings,
    wrapStore(inner, clock) {
      store = faulty(inner, [], clock);
      return store.port;
    },
    wrapLedger(inner, clock) {
      ledger = faulty(inner, [], clock);
      return ledger.port;
    },
  });
  const faultyStore = wrapped(store);
  return {
    rig,
    store: faultyStore,
    ledger: wrapped(ledger),
    strikeMove(fault, skipped = 0) {
      faultyStore.plan({ method: 'move', at: [faultyStore.calls('move') + 1 + skipped], fault });
    },
  };
}

function wrapped<T>(port: T | undefined): T {
  if (port === undefined) throw new Error('the rig wraps its ports when it is made');
  return port;
}
