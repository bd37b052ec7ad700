/** Prints a quota and its use. Pure. */
import type { QuotaUse } from '@lingua/protocol';
import type { QuotaState } from '../../domain/quota.ts';
import { omitUndefined } from './omit-undefined.ts';

export const viewQuota = ({ period, unit, used, soft, hard, resetsAt }: QuotaState): QuotaUse =>
  omitUndefined({ period, unit, used, soft, hard, resets_at: new Date(resetsAt).toISOString() });
