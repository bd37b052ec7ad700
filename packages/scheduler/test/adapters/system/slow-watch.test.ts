/** Slow warnings: the adapter obeys its contract. */
import { createPrometheusMeter } from '../../../src/adapters/prometheus/meter.ts';
import { createSlowWatch } from '../../../src/adapters/system/slow-watch.ts';
import { slowWatchContract } from '../../contracts/slow-watch.ts';
import { createManualClock } from '../../support/manual-clock.ts';

slowWatchContract('system', async (settings) => {
  const clock = createManualClock();
  const meter = createPrometheusMeter();
  const lines: Record<string, unknown>[] = [];
  const log = { warn: (fields: object, message: string) => void lines.push({ ...fields, message }) };
  const names = ['scheduler_slow_lock_wait_total', 'scheduler_slow_path_total'] as const;
  return {
    watch: createSlowWatch({ clock, log, meter, settings }),
    advance: clock.advance,
    counted: (name) =>
      names
        .flatMap((metric) => meter.read().series(metric))
        .find(({ labels }) => labels.lock === name || labels.path === name)?.value ?? 0,
    logged: () => lines,
    close: async () => undefined,
  };
});
