/** What the checker allows in a simulated run: what the configuration promises, and nothing for slow machines. */
import { storeSettings } from '../../../packages/simulation/dist/store/store-settings.js';
import { configOf, SCENARIO, type Scenario } from '../../../packages/simulation/dist/world/scenario.js';
import { ALLOWANCES, type Allowances } from '../checker/violation.ts';

const SECOND = 1_000;
/** After a heartbeat interval and this time, the store has the jobs that the node reported. */
const HEARTBEAT_ARRIVAL_MS = 2_000;

export function simulationAllowances(scenario: Partial<Scenario> = {}): Allowances {
  const whole = { ...SCENARIO, ...scenario };
  const config = configOf('any', false, whole);
  const { scheduler, rooms } = config;
  const { commandTimeoutMs } = storeSettings(config);
  return {
    ...ALLOWANCES,
    deadlineMs: scheduler.job_deadline_ms,
    reservationMs: scheduler.reservation_ttl_ms,
    abandonedMs: Math.max(
      scheduler.reservation_ttl_ms,
      scheduler.node_health.heartbeat_interval_seconds * SECOND + HEARTBEAT_ARRIVAL_MS,
    ),
    leaseMs: scheduler.job_timeout_seconds * SECOND + scheduler.reservation_ttl_ms,
    hedgePercent: scheduler.hedge.budget_percent,
    messageMs: scheduler.ack_timeout_ms,
    gapMs: scheduler.result_gap_max_ms,
    reorderMs: rooms.reorder_ms,
    unheardMs: rooms.unheard_ms,
    awayMs: scheduler.session_resume_ttl_ms,
    // What a replica has is not lost when it takes over.
    lossMs: whole.durability === 'replica' ? 0 : ALLOWANCES.lossMs,
    crossingMs: 500,
    // A dispatch may wait for one command; several at once take no longer.
    dispatchMs: commandTimeoutMs,
    answerMs: commandTimeoutMs,
    isExact: true,
  };
}
