/** Background actor: how the store is set up, looked at again when a master was replaced and once a minute. Says what is new, and stops nobody. */
import type { Log } from '../../../ports/log.ts';
import type { StoreReport } from './inspect-store.ts';

export interface StoreInspection {
  /** What operators should know, as last seen; the worst comes first. */
  warnings(): readonly string[];
  /** On so many servers an instance would refuse to start. */
  unfitServers(): number;
  lookAgain(): void;
  close(): void;
}

const EVERY_MS = 60_000;

export function watchStore(deps: {
  look: () => Promise<StoreReport>;
  /** As seen at the start, which had no objections. */
  warnings: readonly string[];
  log: Log;
  everyMs?: number;
}): StoreInspection {
  const { look, log, everyMs = EVERY_MS } = deps;
  let seen: StoreReport = { objections: [], warnings: [] };
  let isLooking = false;
  let isDue = false;
  let isClosed = false;
  tell({ objections: [], warnings: deps.warnings });

  function tell(found: StoreReport): void {
    for (const text of found.objections) if (!seen.objections.includes(text)) log.error({}, text);
    for (const text of found.warnings) if (!seen.warnings.includes(text)) log.warn({}, text);
    seen = found;
  }

  async function lookAgain(): Promise<void> {
    isDue = true;
    if (isLooking) return;
    isLooking = true;
    while (isDue && !isClosed) {
      isDue = false;
      // A store that is away is told of elsewhere, and looked at when it returns.
      const found = await look().catch(() => undefined);
      if (found !== undefined && !isClosed) tell(found);
    }
    isLooking = false;
  }

  const timer = setInterval(() => void lookAgain(), everyMs);
  timer.unref();
  return {
    warnings: () => [...seen.objections, ...seen.warnings],
    unfitServers: () => seen.objections.length,
    lookAgain: () => void lookAgain(),
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
