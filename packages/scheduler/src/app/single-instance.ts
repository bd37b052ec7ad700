/** Composition root: the stores of a single instance, in memory. */
import type { JobAssign, JobCancel } from '@lingua/protocol';
import { createCapacityLedger } from '../adapters/memory/capacity-ledger.ts';
import { createGlossaryStore } from '../adapters/memory/glossary-store.ts';
import { createJobStore } from '../adapters/memory/job-store.ts';
import { createLocks } from '../adapters/memory/locks.ts';
import { createNodeIdClaims } from '../adapters/memory/node-id-claims.ts';
import { createNodeMailbox } from '../adapters/memory/node-mailbox.ts';
import { createUsageStore } from '../adapters/memory/usage-store.ts';
import type { Config } from '../config/settings.ts';
import type { NodeNumbers } from '../domain/numbered/node-numbers.ts';
import type { UsageSink } from '../domain/usage.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobEvents } from '../ports/job-events.ts';
import { jobStoreLimits, usageLimits } from './settings/settings-from-config.ts';

/** `numbers`: those of the fleet view, so that the ledger finds a node by its number. */
export function createSingleInstance(
  config: Config,
  clock: Clock,
  events: JobEvents,
  numbers: NodeNumbers,
  usage: UsageSink,
) {
  const { scheduler } = config;
  const ledger = createCapacityLedger({ clock, numbers });
  return {
    ledger,
    jobStore: createJobStore({ clock, usage, ...jobStoreLimits(config) }),
    nodeIdClaims: createNodeIdClaims({ maxNodes: scheduler.max_nodes }),
    mailbox: createNodeMailbox<JobAssign | JobCancel>({
      clock,
      maxPerNode: scheduler.mailbox.max_jobs,
      ledger,
    }),
    locks: createLocks({ clock }),
    modelDebounce: createLocks({ clock }),
    usageStore: createUsageStore({ clock, ...usageLimits(config) }),
    glossaryStore: createGlossaryStore(),
    events,
  };
}
