/**
 * Limits audit events that strangers can cause: of equal ones the first in each minute is recorded, and then one with their number. Each
 * group has a budget of its own, so that a flood of unknown tokens cannot hide what a genuine token did.
 */
import type { AuditEvent, AuditLog } from '../../ports/audit-log.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';

export interface CountedEvents {
  /** `group`: who can cause the event. `source`: events that differ only in their addresses within it are equal. */
  record(event: AuditEvent, about: { readonly group: string; readonly source: string }): void;
  /** Records the counts of this minute. */
  stop(): void;
}

const MINUTE_MS = 60_000;
/** Different events of one action and group in one minute; the rest is counted together. */
const MAX_DIFFERENT = 200;

interface Counted {
  readonly event: AuditEvent;
  /** Left out since the first. */
  leftOut: number;
}

export function createCountedEvents({ clock, audit }: { clock: Clock; audit: AuditLog }): CountedEvents {
  /** Action and group → event → how many were left out. */
  const minute = new Map<string, Map<string, Counted>>();
  let cancel: Cancel | undefined;

  function flush(): void {
    cancel?.();
    cancel = undefined;
    for (const events of minute.values())
      for (const { event, leftOut } of events.values())
        if (leftOut > 0) audit.record({ ...event, details: { ...event.details, count: leftOut } });
    minute.clear();
  }

  return {
    record(event, { group, source }) {
      cancel ??= clock.after(MINUTE_MS, flush);
      const { action, result, who, details } = event;
      const place = JSON.stringify([action, group]);
      const events = minute.get(place) ?? new Map<string, Counted>();
      minute.set(place, events);
      const own = JSON.stringify([who, source, details?.reason]);
      const equal = events.get(own);
      if (equal !== undefined) equal.leftOut += 1;
      else if (events.size < MAX_DIFFERENT) {
        events.set(own, { event, leftOut: 0 });
        audit.record(event);
      } else {
        const rest = events.get(REST) ?? {
          event: { action, result, who: `several of ${group}` },
          leftOut: 0,
        };
        rest.leftOut += 1;
        events.set(REST, rest);
      }
    },
    stop: flush,
  };
}

const REST = '';
