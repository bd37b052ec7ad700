/** Background actor: inspects the settings of the store again when a master was replaced and once a minute. It logs new findings only. */
import type { Log } from '../../../ports/log.ts';
import type { StoreReport } from './inspect-store.ts';

export interface StoreInspection {
  /** Findings of the last inspection, the most serious first. */
  warnings(): readonly string[];
  /** Number of servers on which an instance would refuse to start. */
  unfitServers(): number;
  inspectAgain(): void;
  close(): void;
}

const EVERY_MS = 60_000;

export function watchStore(deps: {
  inspect: () => Promise<StoreReport>;
  /** Warnings of the start, which had no objections. */
  warnings: readonly string[];
  log: Log;
  everyMs?: number;
}): StoreInspection {
  const { inspect, log, everyMs = EVERY_MS } = deps;
  let seen: StoreReport = { objections: [], warnings: [] };
  let isInspecting = false;
  let isDue = false;
  let isClosed = false;
  report({ objections: [], warnings: deps.warnings });

  function report(found: StoreReport): void {
    for (const text of found.objections) if (!seen.objections.includes(text)) log.error({}, text);
    for (const text of found.warnings) if (!seen.warnings.includes(text)) log.warn({}, text);
    seen = found;
  }

  async function inspectAgain(): Promise<void> {
    isDue = true;
    if (isInspecting) return;
    isInspecting = true;
    while (isDue && !isClosed) {
      isDue = false;
      // Another actor reports that the store does not answer; the store is inspected when it answers again.
      const found = await inspect().catch(() => undefined);
      if (found !== undefined && !isClosed) report(found);
    }
    isInspecting = false;
  }

  const timer = setInterval(() => void inspectAgain(), everyMs);
  timer.unref();
  return {
    warnings: () => [...seen.objections, ...seen.warnings],
    unfitServers: () => seen.objections.length,
    inspectAgain: () => void inspectAgain(),
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
