/** Every setting of the scheduler: one table that gives the type, the checks, the documentation and the example file. */
import { type AnyGroup, type Entry, group, type Setting, type ValueOf } from './setting.ts';
import * as dispatch from './settings/dispatch.ts';
import { loadBalancer } from './settings/load-balancer.ts';
import { modelNotAvailable, nodeHealth } from './settings/node-health.ts';
import { phase2 } from './settings/phase2.ts';
import { phase3 } from './settings/phase3.ts';
import { log, server } from './settings/server.ts';
import {
  asrRerun,
  coreServices,
  modelHub,
  observability,
  serviceCatalog,
  stats,
} from './settings/services.ts';
import {
  audio,
  backpressure,
  delivery,
  segmentation,
  session,
  taskBinding,
  utteranceGroup,
} from './settings/sessions.ts';
import { tenantLimits, tenants } from './settings/tenants.ts';

export const settings = group('', {
  server,
  log,
  session,
  model_hub: modelHub,
  scheduler: group('How work is scheduled.', {
    ...dispatch.dispatch,
    ...delivery,
    selection: dispatch.selection,
    load_balancer: loadBalancer,
    retry_budget: dispatch.retryBudget,
    ejection: dispatch.ejection,
    queue: dispatch.queue,
    tenant_limits: tenantLimits,
    tenants,
    mailbox: dispatch.mailbox,
    job_timeout: dispatch.jobTimeout,
    task_binding: taskBinding,
    web_task_segmentation: segmentation,
    utterance_group: utteranceGroup,
    backpressure,
    audio,
    node_health: nodeHealth,
    model_not_available: modelNotAvailable,
    core_services: coreServices,
    service_catalog: serviceCatalog,
    stats,
    observability,
    asr_rerun: asrRerun,
    phase2,
    phase3,
  }),
});

export type Config = ValueOf<typeof settings>;

export interface Place {
  readonly key: string;
  readonly entry: Entry;
}

/** Every entry with its full key, in the order of the table; a group comes before its entries. */
export function* walk(table: AnyGroup = settings, prefix = ''): Generator<Place> {
  for (const [name, entry] of Object.entries(table.entries)) {
    const key = prefix + name;
    yield { key, entry };
    if (entry.kind === 'group') yield* walk(entry, `${key}.`);
  }
}

/** Every setting by its full key. */
export const settingsByKey: ReadonlyMap<string, Setting<unknown>> = new Map(
  [...walk()].flatMap(({ key, entry }) => (entry.kind === 'setting' ? [[key, entry] as const] : [])),
);
