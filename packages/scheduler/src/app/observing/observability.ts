/** Composition root: slow paths, figures of the last seconds, and the metrics pages. */
import type { PrometheusMeter } from '../../adapters/prometheus/meter.ts';
import type { EventLoopProbe } from '../../adapters/system/event-loop.ts';
import { createSlowWatch } from '../../adapters/system/slow-watch.ts';
import type { Config } from '../../config/settings.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import { createRecentFigures, sumOf } from '../../management/health/recent-figures.ts';
import type { NodeRegistry } from '../../management/node-registry.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { PathName, SlowWatch } from '../../ports/slow-watch.ts';
import type { RunningJobService } from '../../runtime/create-job-service.ts';
import type { SessionService } from '../../session/session-service.ts';
import type { HttpServices } from '../../transport/http/server/http-services.ts';
import type { BackgroundServices } from '../background-services.ts';
import type { SharedStore } from '../redis-store.ts';

export interface Observation {
  readonly slow: SlowWatch;
  /** The same services, with their slowest paths timed. */
  watched<T extends Timed>(parts: T): T;
  /** The content of GET /metrics and /api/v1/metrics. */
  shown(parts: {
    readonly jobs: Pick<RunningJobService, 'excluded'>;
    readonly backgroundServices: Pick<BackgroundServices, 'catalogue' | 'stats'>;
  }): NonNullable<HttpServices['metrics']>;
  start(): void;
  stop(): void;
}

interface Timed {
  readonly registry: NodeRegistry;
  readonly sessions: SessionService;
}

const LOOP_CHECK_MS = 1_000;

export function createObservation(parts: {
  readonly config: Config;
  readonly clock: Clock;
  readonly meter: PrometheusMeter;
  readonly log: Log;
  readonly loop: EventLoopProbe;
  readonly shared: Pick<SharedStore, 'commands'> | undefined;
}): Observation {
  const { config, clock, meter, log, loop, shared } = parts;
  const { observability, web_task_segmentation: cut } = config.scheduler;
  const { lock_wait_warn_ms: lockWaitWarnMs, path_warn_ms: pathWarnMs } = observability;
  const slow = createSlowWatch({ clock, log, meter, settings: { lockWaitWarnMs, pathWarnMs } });
  const recent = createRecentFigures({ clock, reader: meter.reader });
  let cancelCheck: Cancel | undefined;

  function checkLoop(): void {
    slow.waited('event_loop', loop.worstMs());
    cancelCheck = clock.after(LOOP_CHECK_MS, checkLoop);
  }

  meter.onPrint(() => {
    const { reader } = meter;
    meter.gauge('scheduler_web_task_pause_ms', cut.pause_ms);
    meter.gauge('scheduler_main_path_qps', recent.requestsPerSecond());
    meter.gauge('scheduler_reserve_first_try_ratio', recent.firstTryRatio());
    const stale = sumOf(reader, 'scheduler_stats_stale_total');
    const asked = sumOf(reader, 'scheduler_stats_requests_total');
    meter.gauge('scheduler_stats_stale_ratio', asked === 0 ? 0 : stale / asked);
    const downAll = sumOf(reader, 'scheduler_hub_down_dispatch_total');
    const downWell = sumOf(
      reader,
      'scheduler_hub_down_dispatch_total',
      ({ outcome }) => outcome === 'admitted',
    );
    meter.gauge('scheduler_hub_down_dispatch_success_ratio', downAll === 0 ? 1 : downWell / downAll);
    for (const { op, result, count } of shared?.commands() ?? [])
      meter.count('scheduler_phase2_redis_op_total', { op, result }, count);
  });

  /** Times a call. Its result or failure is passed on unchanged. */
  function timed<A extends unknown[], R>(
    path: PathName,
    call: (...given: A) => MaybePromise<R>,
  ): typeof call {
    if (pathWarnMs === 0) return call;
    return (...given) => {
      const begunAt = clock.now();
      const note = (): void => slow.took(path, clock.now() - begunAt);
      const answer = call(...given);
      if (answer instanceof Promise) answer.then(note, note);
      else note();
      return answer;
    };
  }

  return {
    slow,
    watched: (parts) => ({
      ...parts,
      registry: {
        ...parts.registry,
        register: timed('node_registration', parts.registry.register) as NodeRegistry['register'],
        heartbeat: timed('heartbeat', parts.registry.heartbeat) as NodeRegistry['heartbeat'],
      },
      sessions: { ...parts.sessions, open: timed('session_init', parts.sessions.open) },
    }),
    shown: ({ jobs, backgroundServices }) => ({
      contentType: meter.contentType,
      print: meter.print,
      measured: {
        read: meter.read,
        facts: () => ({
          statsUpdatedAt: backgroundServices.stats.latest()?.updatedAt,
          catalogue: backgroundServices.catalogue.state(),
          excluded: jobs.excluded(),
          lockWaitWarnMs,
          pathWarnMs,
          isShared: shared !== undefined,
        }),
      },
    }),
    start() {
      recent.start();
      if (lockWaitWarnMs > 0) checkLoop();
    },
    stop() {
      recent.stop();
      cancelCheck?.();
    },
  };
}
