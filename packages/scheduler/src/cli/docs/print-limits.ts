/** Prints docs/limits.md from the table of what tenants share. Pure. */
import { SHARED_RESOURCES, type SharedResource } from '../../domain/shared-resources.ts';
import { code, page, table } from './markdown.ts';

const INTRODUCTION = `# What tenants share

Printed from \`packages/scheduler/src/domain/shared-resources.ts\`; do not edit it, \`npm run docs\` writes it.

Each limit is that of one instance. "part": one tenant may use at most \`scheduler.tenant_limits.max_share_percent\` of it: 50 percent if
tokens or tenants name more than one tenant, otherwise all. So a tenant that takes all it can get leaves the other half. What nodes
declare has limits per credential, not per tenant: \`scheduler.declarations\` in [config](config.md).`;

const NOT_CAPPED = `## Without a cap per tenant

| what | why |
|---|---|
| slots of nodes, and jobs in the mailboxes of nodes that poll | Every job in a mailbox holds a slot. Slots that become free are given to the waiting tenants in turns (\`scheduler.tenants.weight\`), and \`scheduler.tenant_limits.max_inflight_jobs\` limits how many jobs of one tenant have a node. |
| events for webhooks | Each receiver has its own queue (\`webhooks.max_waiting\`), and belongs to one tenant. |`;

export const printLimits = (): string =>
  page(
    INTRODUCTION,
    table(
      ['what', 'limit', 'one tenant', 'at the limit of the tenant', 'metric'],
      Object.values<SharedResource>(SHARED_RESOURCES).map((resource) => [
        resource.what,
        limitOf(resource.limit),
        [resource.perTenant, ...(resource.ownLimit === undefined ? [] : [code(resource.ownLimit)])].join(
          ', ',
        ),
        resource.atLimit,
        code(resource.metric),
      ]),
    ),
    NOT_CAPPED,
  );

const limitOf = (limit: string): string => (/^\d/.test(limit) ? limit : code(limit));
