/** GET /api/v1/usage: what tenants have used, as JSON or CSV. A tenant's token sees its own tenant only. */
import { MOST_USAGE_ROWS, USAGE_GROUPS, type UsageQuery } from '@lingua/protocol';
import { DEFAULT_TENANT } from '../../../domain/ids.ts';
import type { UsageGroup } from '../../../runtime/usage/read-usage.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { printUsageCsv, viewUsage } from '../views/usage-view.ts';

const DAY_MS = 86_400_000;
const DEFAULT_GROUPS: readonly UsageGroup[] = ['stage', 'language'];
/** A date, or a date and a time with its zone: a time without one would mean another hour on each server. */
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

export function addUsageRoute(
  routes: Routes,
  { clock, quotas }: Pick<HttpServices, 'clock' | 'quotas'>,
  readUsage: NonNullable<HttpServices['readUsage']>,
): void {
  routes.add<{ Querystring: UsageQuery }>(
    'GET',
    '/api/v1/usage',
    {},
    async ({ query, principal, headers }, reply) => {
      const isOperator = principal.roles.has('operator');
      // A minted token of a client is in the hands of one user of the tenant.
      if (principal.scope !== undefined && !isOperator) return replyError(reply, NOT_FOR_USERS);
      const own = principal.tenantId ?? DEFAULT_TENANT;
      if (!isOperator && query.tenant_id !== undefined && query.tenant_id !== own)
        return replyError(reply, NOT_OF_OTHERS);
      const tenantId = isOperator ? query.tenant_id : own;
      const now = clock.now();
      const to = query.to === undefined ? now : instantOf(query.to);
      if (to === undefined) return replyError(reply, invalidInstant('to'));
      const from = query.from === undefined ? to - DAY_MS : instantOf(query.from);
      if (from === undefined) return replyError(reply, invalidInstant('from'));
      if (from >= to) return replyError(reply, invalid('from', '"from" must be before "to"'));
      const groupBy = groupsOf(query.group_by);
      if (groupBy === undefined) return replyError(reply, INVALID_GROUPS);
      const reading = await readUsage({ tenantId, from, to, groupBy });
      if (reading.kind === 'too_much') return replyError(reply, tooMuch(reading));
      const states = tenantId === undefined ? [] : ((await quotas?.read(tenantId)) ?? []);
      const usage = viewUsage(reading, states);
      const isCsv = query.format === 'csv' || (query.format === undefined && asksForCsv(headers.accept));
      if (!isCsv) return usage;
      return reply.header('content-type', 'text/csv; charset=utf-8').send(printUsageCsv(usage, groupBy));
    },
  );
}

function instantOf(text: string): number | undefined {
  const at = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

function groupsOf(text: string | undefined): readonly UsageGroup[] | undefined {
  if (text === undefined) return DEFAULT_GROUPS;
  const groups = [...new Set(text.split(',').map((group) => group.trim()))];
  return groups.every(isGroup) ? groups : undefined;
}

const isGroup = (text: string): text is UsageGroup => USAGE_GROUPS.includes(text as UsageGroup);

const asksForCsv = (accept: string | undefined): boolean => /^\s*text\/csv\b/.test(accept ?? '');

const invalid = (field: string, detail: string): Refusal => ({
  code: 'INVALID_MESSAGE',
  detail,
  field: `/${field}`,
});

const invalidInstant = (field: string): Refusal =>
  invalid(field, `"${field}" must be a date (2026-11-01) or a time with its zone (2026-11-01T08:00Z)`);

const INVALID_GROUPS = invalid(
  'group_by',
  `"group_by" must be some of ${USAGE_GROUPS.join(', ')}, separated by commas`,
);

const tooMuch = ({ of, most }: { readonly of: 'hours' | 'rows'; readonly most: number }): Refusal =>
  of === 'hours'
    ? invalid(
        'from',
        `this asks for more than ${most} hours of tenants: shorten the range, or name one tenant_id`,
      )
    : invalid('group_by', `the reply would have more than ${MOST_USAGE_ROWS} rows: group by less`);

const NOT_OF_OTHERS: Refusal = {
  code: 'FORBIDDEN',
  detail: 'only operators see what other tenants have used',
  field: '/tenant_id',
};

const NOT_FOR_USERS: Refusal = {
  code: 'FORBIDDEN',
  detail: 'a minted token does not show what its tenant has used',
};
