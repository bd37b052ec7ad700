/** Limits audit events that strangers can cause: of equal ones the first in each minute is recorded, and then one with their number. */
import type { AuditEvent, AuditLog } from '../../ports/audit-log.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';

export interface CountedEvents {
  record(event: AuditEvent): void;
  /** Records the counts of this minute. */
  stop(): void;
}

const MINUTE_MS = 60_000;
/** Different events in one minute; the rest is counted together. */
const MAX_DIFFERENT = 200;

export function createCountedEvents({ clock, audit }: { clock: Clock; audit: AuditLog }): CountedEvents {
  /** Event → how many were left out since the first. */
  const minute = new Map<string, { readonly event: AuditEvent; leftOut: number }>();
  let cancel: Cancel | undefined;

  function flush(): void {
    cancel?.();
    cancel = undefined;
    for (const { event, leftOut } of minute.values())
      if (leftOut > 0) audit.record({ ...event, details: { ...event.details, count: leftOut } });
    minute.clear();
  }

  return {
    record(event) {
      cancel ??= clock.after(MINUTE_MS, flush);
      const { action, result, who, from } = event;
      const isOne = minute.size < MAX_DIFFERENT;
      const own = JSON.stringify([action, who, from]);
      const key = minute.has(own) || isOne ? own : action;
      const equal = minute.get(key);
      if (equal !== undefined) equal.leftOut += 1;
      else if (key === own) {
        minute.set(key, { event, leftOut: 0 });
        audit.record(event);
      } else minute.set(key, { event: { action, result, who: 'several' }, leftOut: 1 });
    },
    stop: flush,
  };
}
