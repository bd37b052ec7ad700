/** A GPU node: registers with the scheduler, runs jobs, and delivers results across lost connections. */
import type { JobResult, NodeToScheduler, SchedulerToNode } from '@lingua/protocol';
import { createLink } from './connection/link.ts';
import { deferred, waitAtMost } from './deferred.ts';
import { createHeartbeat, heartbeatInterval } from './heartbeat.ts';
import { createHeartbeatMessage } from './heartbeat-message.ts';
import { JobError } from './job-error.ts';
import { createJobRunner, type JobCounts } from './job-runner.ts';
import {
  checkOptions,
  checkServiceTypes,
  NODE_EXTENSIONS,
  NODE_LIMITS,
  NODE_TIMINGS,
  type NodeOptions,
} from './node-options.ts';
import { createNotices } from './notices.ts';
import { createOutbox, type OutboxCounts } from './outbox.ts';
import { createRecentResults } from './recent-results.ts';
import { registration } from './registration.ts';
import { createSafeLog, guard } from './safe-log.ts';

export interface NodeMetrics extends JobCounts, OutboxCounts {
  readonly isRegistered: boolean;
  readonly isDraining: boolean;
  /** Registrations after the first. */
  readonly reconnects: number;
  /** Invalid frames from the scheduler. */
  readonly invalidFrames: number;
  /** Acknowledgements, partial texts and heartbeats that could not be sent. */
  readonly unsentReports: number;
}

export interface GpuNode {
  /**
   * Resolves when the scheduler has registered the node. Rejects with a StartError if a retry would not help (a wrong
   * token, a wrong url, an invalid registration); everything else is logged and tried again, without limit.
   */
  start(): Promise<void>;
  /** The id of the node at the scheduler, once it is registered. */
  nodeId(): string | undefined;
  metrics(): NodeMetrics;
  /** Sends a heartbeat now, for example after a model was loaded. */
  beat(): void;
  /** Accepts no more jobs; resolves when the running ones are done and their results are delivered. */
  drain(): Promise<void>;
  /**
   * The machine will be taken away in so many milliseconds: drains, and tells the scheduler when the node stops, so that jobs which it cannot finish
   * by then move at once.
   */
  leave(inMs: number): Promise<void>;
  /** Waits for running jobs (default 5 s), aborts the rest, and closes the connection. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  /** Ends like a crash: no job is answered, the connection is cut. For tests and simulations. */
  kill(): void;
}

const DEFAULT_GRACE_MS = 5_000;
/** How long a stopping node waits for its aborted jobs, and then for the delivery of its last results. */
const FINAL_RESULTS_MS = 1_000;
/** How long no result is sent after the scheduler reported dropped messages; it resets its count after a second. */
const SLOW_DOWN_MS = 1_500;

export function createNode(options: NodeOptions): GpuNode {
  checkOptions(options);
  const timings = { ...NODE_TIMINGS, ...options.timings };
  const limits = { ...NODE_LIMITS, ...options.limits };
  const { supports = NODE_EXTENSIONS, chance = Math.random, tamper = (message) => [message] } = options;
  const log = createSafeLog(options.log);
  const first = deferred();
  // A caller that does not await start() must not get an unhandled rejection when it stops early.
  first.promise.catch(() => {});
  let phase: 'new' | 'started' | 'stopping' | 'stopped' = 'new';
  let isDraining = false;
  let drained: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;
  let unsentReports = 0;
  let leavingAt: number | undefined;
  let slowed: NodeJS.Timeout | undefined;

  const heartbeatMessage = createHeartbeatMessage(options, log);
  const link = createLink({
    url: options.url,
    token: options.token,
    tls: options.tls,
    nodeId: options.nodeId,
    timings,
    limits,
    chance,
    log,
    buildFirstMessage: (nodeId) =>
      registration({
        nodeId,
        capabilities: heartbeatMessage.capabilities(),
        maxConcurrentJobs: options.maxConcurrentJobs,
        supports,
        // A job with an undelivered result counts as running, so that the scheduler does not give it to another node.
        runningJobIds: [...new Set([...runner.runningJobIds(), ...outbox.keptJobIds()])],
      }),
    onConnected: () => status('registering', undefined),
    onRegistered: (ack) => {
      heartbeat.start(heartbeatInterval(ack.heartbeat_interval_ms, timings.heartbeatIntervalMs));
      outbox.connected(ack.node_id);
      status(ack.status, undefined);
      first.resolve();
    },
    onMessage: handle,
    onPong: (data) => outbox.confirmed(data),
    onLost: (loss) => {
      heartbeat.stop();
      outbox.lost(loss.code);
      status('offline', loss.reason === '' ? undefined : loss.reason);
    },
    onRefused: (error) => {
      first.reject(error);
      stopped ??= Promise.resolve();
      end();
    },
  });
  const outbox = createOutbox({
    link,
    limits: {
      maxResults: limits.maxKeptResults,
      maxBytes: limits.maxKeptBytes,
      maxBufferedBytes: limits.maxBufferedBytes,
    },
    onDropped: (jobId, why) => log.error({ job_id: jobId, why }, 'a result was dropped'),
  });
  const runner = createJobRunner({
    maxConcurrentJobs: options.maxConcurrentJobs,
    supports,
    onJob: options.onJob,
    audio: {
      schedulerUrl: options.url,
      maxBytes: limits.maxAudioBytes,
      timeoutMs: timings.audioTimeoutMs,
      tls: options.tls,
    },
    nodeId,
    report: (message) => tamper(message).forEach(report),
    post,
    recentResults: createRecentResults({
      maxResults: limits.maxRememberedResults,
      maxBytes: limits.maxRememberedBytes,
    }),
    log,
  });
  const heartbeat = createHeartbeat({
    chance,
    send: () =>
      report(
        heartbeatMessage.next({
          nodeId: nodeId(),
          isDraining,
          leavingAt,
          running: runner.runningJobIds(),
          unsent: outbox.unsentJobIds(),
        }),
      ),
  });

  const notices = createNotices({
    ask: options.leavingInMs,
    intervalMs: timings.noticeIntervalMs,
    leave: (inMs) => void leave(inMs),
    log,
  });

  /** Called only after a registration, which sets the id. */
  function nodeId(): string {
    return link.nodeId() ?? '';
  }

  function report(message: NodeToScheduler): void {
    const hasRoom = link.bufferedBytes() <= limits.maxBufferedBytes;
    if (!hasRoom || !link.send(JSON.stringify(message))) unsentReports += 1;
  }

  function post(result: JobResult): number {
    let bytes = 0;
    for (const sent of tamper(result)) {
      const text = JSON.stringify(sent);
      bytes = Buffer.byteLength(text);
      if (phase !== 'stopped') outbox.post(result.job_id, text);
    }
    return bytes;
  }

  function handle(message: SchedulerToNode): void {
    if (message.type === 'job_assign') runner.assign(message);
    else if (message.type === 'job_cancel') runner.cancel(message.job_id, message.reason);
    else if (message.type === 'node_status') status(message.status, message.reason);
    else if (message.type === 'node_control') execute(message.command, message.reason);
    else if (message.type === 'error') {
      log.warn({ code: message.code, reason: message.message }, 'the scheduler reported an error');
      if (message.code === 'RATE_LIMITED') slowDown();
    }
  }

  function slowDown(): void {
    outbox.pause();
    clearTimeout(slowed);
    slowed = setTimeout(outbox.resume, SLOW_DOWN_MS);
  }

  function execute(command: string, reason: string | undefined): void {
    log.info({ command, reason }, 'received a command of the scheduler');
    const pass = (): void => guard(log, 'onCommand', () => options.onCommand?.(command, reason));
    if (command === 'drain') void drain(reason);
    else if (command === 'resume') resume();
    else if (command === 'reconnect') link.rejoin();
    else if (command === 'shutdown')
      void drain(reason)
        .then(() => stop())
        .then(pass);
    else pass();
  }

  function status(name: string, reason: string | undefined): void {
    guard(log, 'onStatus', () => options.onStatus?.(name, reason));
  }

  function drain(reason?: string): Promise<void> {
    if (drained !== undefined) return drained;
    isDraining = true;
    runner.close();
    heartbeat.beat();
    drained = (async () => {
      await runner.idle();
      await outbox.settled();
      heartbeat.beat();
    })();
    guard(log, 'onDrain', () => options.onDrain?.(reason));
    return drained;
  }

  function leave(inMs: number): Promise<void> {
    const at = Date.now() + Math.max(0, inMs);
    const isNews = leavingAt === undefined || at < leavingAt;
    if (isNews) leavingAt = at;
    if (isDraining && isNews) heartbeat.beat();
    return drain('the machine is taken away');
  }

  function resume(): void {
    // The cloud does not take its notice back.
    if (!isDraining || phase !== 'started' || leavingAt !== undefined) return;
    isDraining = false;
    drained = undefined;
    runner.reopen();
    heartbeat.beat();
  }

  function stop(graceMs = DEFAULT_GRACE_MS): Promise<void> {
    stopped ??= finish(graceMs);
    return stopped;
  }

  async function finish(graceMs: number): Promise<void> {
    phase = 'stopping';
    isDraining = true;
    runner.close();
    heartbeat.beat();
    await waitAtMost(graceMs, runner.idle());
    runner.abortAll(new JobError('NODE_UNAVAILABLE', 'the node is stopping'));
    await waitAtMost(FINAL_RESULTS_MS, runner.idle());
    if (link.isRegistered()) await waitAtMost(FINAL_RESULTS_MS, outbox.settled());
    end();
    await link.close(1000, 'the node stops');
  }

  function end(): void {
    phase = 'stopped';
    heartbeat.stop();
    notices.stop();
    clearTimeout(slowed);
    outbox.close();
    first.reject(new Error('the node was stopped before it was registered'));
  }

  return {
    start() {
      if (phase === 'stopping' || phase === 'stopped')
        return Promise.reject(new Error('a stopped node cannot be started again; create another'));
      try {
        checkServiceTypes(heartbeatMessage.capabilities());
      } catch (error) {
        return Promise.reject(error);
      }
      phase = 'started';
      notices.start();
      link.open();
      return first.promise;
    },
    nodeId: link.nodeId,
    metrics: () => ({
      ...runner.counts(),
      ...outbox.counts(),
      ...link.counts(),
      isRegistered: link.isRegistered(),
      isDraining,
      unsentReports,
    }),
    beat: heartbeat.beat,
    drain: () => drain(),
    leave,
    stop: (how) => stop(how?.graceMs),
    kill() {
      stopped ??= Promise.resolve();
      end();
      link.cut();
      void link.close();
      runner.close();
      runner.abortAll(new JobError('NODE_UNAVAILABLE', 'the node was killed'));
    },
  };
}
