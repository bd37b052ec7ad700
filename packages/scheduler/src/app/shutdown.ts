/** Composition root: the order in which everything ends. Clients move first, then jobs end, then nodes move, then doors close. */
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
  readonly loop: { stop(): void };
  readonly clock: Clock;
  readonly log: Log;
  /** Lets the nodes here finish what they do for other instances. */
  readonly withdraw: ((limitMs: number) => Promise<void>) | undefined;
  /** Takes leave of other instances: they adopt what is left. */
  readonly leave: () => Promise<void>;
  /** For sessions and jobs together: whoever stops the process waits no longer. */
  readonly drainTimeoutMs: number;
  /** Nothing new is taken from here on. */
  readonly drains: () => void;
  /** Nodes, too, are turned away from here on. */
  readonly leaves: () => void;
}

/** How long sessions are asked to wait before they come back: somebody else must be there to take them. */
const RECONNECT_AFTER_MS = 500;

export type ShutDown = (why?: {
  /** It never served: that it ends is no news, and whoever reads why must not have to look for it. */
  readonly isQuiet?: boolean;
}) => Promise<void>;

export function createShutDown(deps: ShutDownDeps): ShutDown {
  const { sessions, jobs, sockets, clock, log, drainTimeoutMs } = deps;

  return async ({ isQuiet = false } = {}) => {
    const say: Log['info'] = (fields, message) =>
      isQuiet ? log.debug(fields, message) : log.info(fields, message);
    const endsAt = clock.now() + drainTimeoutMs;
    deps.drains();
    say({}, 'draining: ready is red, nothing new is taken');
    const draining = sessions.drain({ reconnectAfterMs: RECONNECT_AFTER_MS, limitMs: drainTimeoutMs });
    say({ sessions: draining.notified }, 'sessions told to connect elsewhere');
    await draining.ended;
    const limitMs = Math.max(0, endsAt - clock.now());
    const [left] = await Promise.all([jobs.drain(limitMs), deps.withdraw?.(limitMs)]);
    if (left > 0)
      log.warn({ jobs: left }, 'jobs were left when the drain time was over; their clients send them again');
    else say({}, 'drained: every job has its outcome');
    deps.leaves();
    // Only now: a node that is told to move closes its connection, and with it would go what it still works on.
    const asked = sockets.drain('shutdown');
    say({ nodes: asked }, 'nodes told to connect elsewhere');
    await deps.socketServer.close();
    say({}, 'sockets closed');
    await deps.http.close();
    say({}, 'HTTP closed');
    deps.endpoints.close();
    sessions.stop();
    jobs.stop();
    deps.registry.stop();
    await deps.leave();
    deps.loop.stop();
    say({}, 'stopped');
  };
}
