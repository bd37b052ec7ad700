/** Simulation: the settings of the simulated store, from the configuration. Pure. */

import {
  forgetNodesAfterMs,
  inboxSettings,
  nodeIdleMs,
  redisSettings,
  sharedJobLimits,
} from '../../../scheduler/dist/app/settings/shared-settings.js';
import type { Config } from '../../../scheduler/dist/config/settings.js';
import type { InboxSettings } from './inbox.ts';
import type { JobStoreLimits } from './job-store.ts';
import type { UsageLimits } from './usage-store.ts';

export interface StoreSettings {
  readonly commandTimeoutMs: number;
  readonly durability: 'primary' | 'replica';
  readonly forgetNodesAfterMs: number;
  readonly nodeIdleMs: number;
  readonly maxNodes: number;
  readonly mailboxJobs: number;
  readonly inbox: InboxSettings;
  readonly jobs: JobStoreLimits;
  readonly usage: UsageLimits;
}

export function storeSettings(config: Config): StoreSettings {
  const { scheduler } = config;
  return {
    commandTimeoutMs: redisSettings(config).commandTimeoutMs,
    durability: scheduler.cluster.durability,
    forgetNodesAfterMs: forgetNodesAfterMs(config),
    nodeIdleMs: nodeIdleMs(config),
    maxNodes: scheduler.max_nodes,
    mailboxJobs: scheduler.mailbox.max_jobs,
    inbox: inboxSettings(config),
    jobs: sharedJobLimits(config),
    usage: { retentionDays: scheduler.usage.usage_retention_days },
  };
}
