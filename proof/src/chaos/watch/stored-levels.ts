/** What lies in the store and must stay bounded, and its limit. Pure. */
import type { Config } from '../../../../packages/scheduler/dist/config/settings.js';
import type { LeftKey } from '../../checker/leftovers.ts';
import type { Level } from './levels.ts';

export type StoredKey = Pick<LeftKey, 'name' | 'size'>;

const INBOX = /^streams:\{instance:[^}]+\}:inbox$/;
const DEAD_LETTERS = /^streams:\{instance:[^}]+\}:dlq$/;
const JOBS = /^v1:jobs:/;
const SESSIONS = /^v1:sessions:/;

/** Each stream has its own limit. */
export function streamLevels(keys: readonly StoredKey[], { scheduler: { cluster } }: Config): Level[] {
  const fullest = (kind: RegExp): number =>
    keys.reduce((most, { name, size }) => (kind.test(name) ? Math.max(most, size) : most), 0);
  return [
    // At rest, too, there are some: how long they lie there is checked at the end (checker/leftovers.ts).
    { gauge: 'messages in the fullest inbox', value: fullest(INBOX), limit: cluster.stream_maxlen },
    {
      gauge: 'messages in the fullest dead-letter queue',
      value: fullest(DEAD_LETTERS),
      limit: cluster.dlq_maxlen,
      atRest: 0,
    },
  ];
}

/** Of everything that is there. */
export function storedLevels(keys: readonly LeftKey[], config: Config, instances: number): Level[] {
  const { scheduler, session } = config;
  const count = (kind: RegExp): number => keys.filter(({ name }) => kind.test(name)).length;
  const leases = keys.reduce((sum, { liveLeases = 0 }) => sum + liveLeases, 0);
  // Includes those of dead instances, until another one has taken them over: by then each may have died once.
  const most = (each: number): number => 2 * each * instances;
  return [
    ...streamLevels(keys, config),
    { gauge: 'live leases', value: leases, limit: most(scheduler.max_inflight_jobs), atRest: 0 },
    {
      gauge: 'records of jobs',
      value: count(JOBS),
      limit: most(scheduler.max_inflight_jobs + scheduler.job_retention_max_count),
    },
    { gauge: 'records of sessions', value: count(SESSIONS), limit: most(session.max_sessions) },
  ];
}
