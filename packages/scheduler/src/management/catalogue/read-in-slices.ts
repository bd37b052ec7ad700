/** Cold path: reads the answer of the hub a few entries at a time, so that no job waits for it (I6). */
import type { Clock } from '../../ports/clock.ts';
import { type CatalogueService, findList, MAX_SERVICES, readService } from './read-services.ts';

export type ReadAnswer =
  | {
      readonly kind: 'read';
      readonly services: readonly CatalogueService[];
      /** Malformed entries, and entries over the limit. */
      readonly bad: number;
    }
  | { readonly kind: 'unreadable'; readonly reason: string; readonly bad: number };

const SLICE = 100;

/** An empty list is a valid answer; a list without any readable entry is not. Of two entries with the same id the first one counts. */
export async function readAnswer(answer: unknown, clock: Clock): Promise<ReadAnswer> {
  const found = findList(answer);
  if (found.kind === 'no_list') return { kind: 'unreadable', reason: found.reason, bad: 0 };
  const { entries } = found;
  const known = new Map<string, CatalogueService>();
  const end = Math.min(entries.length, MAX_SERVICES);
  for (let at = 0; at < end; at += SLICE) {
    if (at > 0) await pause(clock);
    for (const entry of entries.slice(at, Math.min(at + SLICE, end))) {
      const service = readService(entry);
      if (service !== undefined && !known.has(service.serviceId)) known.set(service.serviceId, service);
    }
  }
  const bad = entries.length - known.size;
  if (entries.length > 0 && known.size === 0) {
    return { kind: 'unreadable', reason: `none of ${entries.length} entries is well-formed`, bad };
  }
  return { kind: 'read', services: [...known.values()], bad };
}

const pause = (clock: Clock): Promise<void> => new Promise((resolve) => clock.after(0, resolve));
