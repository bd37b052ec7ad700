/** The reply of GET /api/v1/usage, as JSON and as CSV. Pure. */
import type { UsageReply, UsageRow } from '@lingua/protocol';
import type { QuotaState } from '../../../domain/quota.ts';
import type { UsageGroup, UsageReading } from '../../../runtime/usage/read-usage.ts';
import { viewQuota } from '../../wire/quota-view.ts';

type Usage = Extract<UsageReading, { kind: 'usage' }>;

const NAMES = {
  tenant: 'tenant_id',
  stage: 'stage',
  language: 'language',
  hour: 'hour',
  day: 'day',
} as const satisfies Record<UsageGroup, keyof UsageRow>;

const AMOUNTS = ['results', 'unmeasured', 'audio_seconds', 'characters', 'voice_seconds'] as const;

/** `quotas`: of the one tenant that the rows are of. */
export const viewUsage = ({ from, to, sums }: Usage, quotas: readonly QuotaState[]): UsageReply => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
  rows: sums.map(({ group, amounts }) => ({
    ...Object.fromEntries(Object.entries(group).map(([name, value]) => [NAMES[name as UsageGroup], value])),
    results: amounts.results ?? 0,
    unmeasured: amounts.unmeasured ?? 0,
    audio_seconds: (amounts.audio_ms ?? 0) / 1_000,
    characters: amounts.characters ?? 0,
    voice_seconds: (amounts.voice_ms ?? 0) / 1_000,
  })),
  ...(quotas.length > 0 && { quotas: quotas.map(viewQuota) }),
});

export function printUsageCsv({ rows }: UsageReply, groupBy: readonly UsageGroup[]): string {
  const columns = [...groupBy.map((by) => NAMES[by]), ...AMOUNTS];
  const lines = rows.map((row) => columns.map((column) => cell(row[column])).join(','));
  return `${[columns.join(','), ...lines].join('\r\n')}\r\n`;
}

/** Languages are named by clients: a spreadsheet must not take one for a formula. */
function cell(value: string | number | undefined): string {
  const text = String(value ?? '');
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
