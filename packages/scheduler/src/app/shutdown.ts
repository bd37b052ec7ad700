/** Composition root: the order of a shutdown: clients move, jobs end, nodes move, servers close. */
import { withTimeout } from '../domain/with-timeout.ts';
import type { NodeRegistry } from '../management/node-registry.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { RunningJobService } from '../runtime/create-job-service.ts';
import type { SessionService } from '../session/session-service.ts';
import type { NodeSockets } from '../transport/ws/node-sockets.ts';

export interface ShutDownDeps {
  readonly sessions: Pick<SessionService, 'drain' | 'stop'>;
  readonly jobs: Pick<RunningJobService, 'drain' | 'stop'>;
  readonly registry: Pick<NodeRegistry, 'stop'>;
  readonly sockets: Pick<NodeSockets, 'drain'>;
  readonly socketServer: { close(): Promise<void> };
  readonly http: { close(): Promise<void> };
  readonly endpoints: { close(): void };
  readonly webhooks: { idle(): Promise<void>; stop(): void };
  readonly loop: { stop(): void };
  readonly clock: Clock;
  readonly log: Log;
  /** Lets nodes finish the jobs of other instances. */
  readonly withdraw: ((limitMs: number) => Promise<void>) | undefined;
  /** Leaves the cluster: other instances take over the rest. */
  readonly leave: () => Promise<void>;
  /** For sessions and jobs together. The supervisor of the process waits no longer. */
  readonly drainTimeoutMs: number;
  /** New work is refused from here on. */
  readonly drains: () => void;
  /** Nodes are refused from here on. */
  readonly leaves: () => void;
}

/** How long clients wait before they reconnect, so that another instance can take them. */
const RECONNECT_AFTER_MS = 500;
/** How long the events of the last jobs may take to leave. */
const LAST_WEBHOOKS_MS = 2_000;

export type ShutDown = (why?: {
  /** The instance never served: the log should show why, and not the steps of its shutdown. */
  readonly isQuiet?: boolean;
}) => Promise<void>;

export function createShutDown(deps: ShutDownDeps): ShutDown {
  const { sessions, jobs, sockets, clock, log, drainTimeoutMs } = deps;

  return async ({ isQuiet = false } = {}) => {
    const report: Log['info'] = (fields, message) =>
      isQuiet ? log.debug(fields, message) : log.info(fields, message);
    const endsAt = clock.now() + drainTimeoutMs;
    deps.drains();
    report({}, 'draining: not ready any more, new work is refused');
    const draining = sessions.drain({ reconnectAfterMs: RECONNECT_AFTER_MS, limitMs: drainTimeoutMs });
    report({ sessions: draining.notified }, 'sent clients to other instances');
    await draining.ended;
    const limitMs = Math.max(0, endsAt - clock.now());
    const [left] = await Promise.all([jobs.drain(limitMs), deps.withdraw?.(limitMs)]);
    if (left > 0)
      log.warn(
        { jobs: left },
        'jobs were left at the end of the drain time; their clients will send them again',
      );
    else report({}, 'drained: every job has its outcome');
    deps.leaves();
    // After the jobs: a node that is sent away closes its connection, and its running jobs would be lost.
    const drained = sockets.drain('shutdown');
    report({ nodes: drained }, 'sent nodes to other instances');
    await deps.socketServer.close();
    report({}, 'sockets closed');
    await deps.http.close();
    report({}, 'HTTP closed');
    deps.endpoints.close();
    // What no receiver accepts by then is lost.
    await withTimeout(clock, LAST_WEBHOOKS_MS, 'webhooks', deps.webhooks.idle).catch(() => {});
    deps.webhooks.stop();
    sessions.stop();
    jobs.stop();
    deps.registry.stop();
    await deps.leave();
    deps.loop.stop();
    report({}, 'stopped');
  };
}
