/** A canonical text of a request, so that one request_id cannot stand for two different requests. Pure. */
import type { TranslateRequest as Body } from '@lingua/protocol';

/** Fields that may differ between a request and its repeat. */
const INCIDENTAL: ReadonlySet<string> = new Set([
  'request_id',
  'trace_id',
  'wait_ms',
  'tenant_id',
  'priority',
]);

export const canonicalRequest = (body: Body): string => JSON.stringify(canonical(body, ''));

/** Does not use the replacer of JSON.stringify, which is several times slower. */
function canonical(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => canonical(each, ''));
  const fields = value as Record<string, unknown>;
  const names = Object.keys(fields).filter((name) => !INCIDENTAL.has(name));
  // Options without any field of the job count as absent.
  if (key === 'options' && names.length === 0) return undefined;
  return Object.fromEntries(names.sort().map((name) => [name, canonical(fields[name], name)]));
}
