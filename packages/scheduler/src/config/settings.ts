/** Every setting of the scheduler: one table that gives the type, the checks, the documentation and the example file. */
import { type AnyGroup, type Entry, group, type Setting, type ValueOf } from './setting.ts';
import { cluster } from './settings/cluster.ts';
import * as dispatch from './settings/dispatch.ts';
import { loadBalancer } from './settings/load-balancer.ts';
import { modelNotAvailable, nodeHealth } from './settings/node-health.ts';
import { pools } from './settings/pools.ts';
import { regions } from './settings/regions.ts';
import { rooms } from './settings/rooms.ts';
import { audit, log, server } from './settings/server.ts';
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
  privacy,
  segmentation,
  session,
  taskBinding,
  utteranceGroup,
} from './settings/sessions.ts';
import { quotas, tenantLimits, tenants, usage } from './settings/tenants.ts';
import { webhooks } from './settings/webhooks.ts';

export const settings = group('', {
  server,
  log,
  audit,
  privacy,
  session,
  rooms,
  webhooks,
  model_hub: modelHub,
  scheduler: group('How work is scheduled.', {
    ...dispatch.dispatch,
    ...delivery,
    selection: dispatch.selection,
    load_balancer: loadBalancer,
    retry_budget: dispatch.retryBudget,
    ejection: dispatch.ejection,
    queue: dispatch.queue,
    hedge: dispatch.hedge,
    regions,
    tenant_limits: tenantLimits,
    tenants,
    usage,
    quotas,
    declarations: dispatch.declarations,
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
    cluster,
    pools,
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

/** Groups by their present name → the name in earlier files, which is accepted, too. */
export const FORMER_GROUPS: ReadonlyMap<string, string> = new Map([
  ['scheduler.cluster', 'scheduler.phase2'],
  ['scheduler.pools', 'scheduler.phase3'],
]);

/** The earlier name of a key below one of these groups, or of the group itself. */
export function formerName(key: string): string | undefined {
  for (const [present, former] of FORMER_GROUPS)
    if (key === present || key.startsWith(`${present}.`)) return former + key.slice(present.length);
  return undefined;
}

/** The present name of a setting whose key may be an earlier one. */
export function presentName(key: string): string {
  for (const [present, former] of FORMER_GROUPS)
    if (key.startsWith(`${former}.`)) return present + key.slice(former.length);
  return key;
}

/** Every setting by its full key; its earlier names are aliases. */
export const settingsByKey: ReadonlyMap<string, Setting<unknown>> = new Map(
  [...walk()].flatMap(({ key, entry }) =>
    entry.kind === 'setting' ? [[key, withFormerNames(key, entry)] as const] : [],
  ),
);

function withFormerNames(key: string, setting: Setting<unknown>): Setting<unknown> {
  const formerly = [{ key }, ...setting.aliases].flatMap((alias) => {
    const former = formerName(alias.key);
    return former === undefined ? [] : [{ ...alias, key: former }];
  });
  return formerly.length === 0 ? setting : { ...setting, aliases: [...setting.aliases, ...formerly] };
}
