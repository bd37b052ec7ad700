/** One text for all spellings of the same request, so that a request_id cannot mean two things. Pure. */
import type { DispatchRequest as Body } from '@lingua/protocol';

/** What may differ between a request and its repeat. */
const INCIDENTAL: ReadonlySet<string> = new Set([
  'request_id',
  'trace_id',
  'wait_ms',
  'tenant_id',
  'priority',
]);

export const canonicalRequest = (body: Body): string => JSON.stringify(canonical(body, ''));

/** Not as a replacer of JSON.stringify: with one, that is several times as slow. */
function canonical(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => canonical(each, ''));
  const fields = value as Record<string, unknown>;
  const names = Object.keys(fields).filter((name) => !INCIDENTAL.has(name));
  // Options that say nothing of the job are none.
  if (key === 'options' && names.length === 0) return undefined;
  return Object.fromEntries(names.sort().map((name) => [name, canonical(fields[name], name)]));
}
