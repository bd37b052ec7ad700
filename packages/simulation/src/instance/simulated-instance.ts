/** Simulation: one process of the scheduler: the real core, with the simulated network in place of HTTP and sockets. */
import type { DispatchRequest as Body, TranslateRequest } from '@lingua/protocol';
import { createAudioStore } from '../../../scheduler/dist/adapters/memory/audio-store.js';
import { type Core, createCore } from '../../../scheduler/dist/app/create-core.js';
import { coreIdsOf } from '../../../scheduler/dist/app/settings/pool-plan.js';
import type { SharedStore } from '../../../scheduler/dist/app/shared-store.js';
import { createShutDown } from '../../../scheduler/dist/app/shutdown.js';
import { nameInstance } from '../../../scheduler/dist/cluster/membership/process-name.js';
import type { Config } from '../../../scheduler/dist/config/settings.js';
import type { DispatchOutcome } from '../../../scheduler/dist/domain/dispatch.js';
import type { ErrorCode } from '../../../scheduler/dist/domain/errors.js';
import { DEFAULT_TENANT, type JobId } from '../../../scheduler/dist/domain/ids.js';
import type { JobRecord } from '../../../scheduler/dist/domain/job.js';
import { createRequirements } from '../../../scheduler/dist/domain/requirements.js';
import type { Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../../scheduler/dist/plan/kernel/seeded-chance.js';
import { createSeededIds } from '../../../scheduler/dist/plan/kernel/seeded-ids.js';
import type { AudioFetcher } from '../../../scheduler/dist/ports/audio-fetcher.js';
import type { Log } from '../../../scheduler/dist/ports/log.js';
import type { Meter } from '../../../scheduler/dist/ports/meter.js';
import {
  type BuiltDispatch,
  buildDispatch,
} from '../../../scheduler/dist/transport/http/requests/dispatch-request.js';
import { readPlan } from '../../../scheduler/dist/transport/http/requests/plan-request.js';
import { createRunRequest } from '../../../scheduler/dist/transport/http/requests/run-plan-request.js';
import { viewTargets } from '../../../scheduler/dist/transport/http/views/plan-view.js';
import { readJob } from '../../../scheduler/dist/transport/http/views/read-job.js';
import { createAudioReferences } from '../../../scheduler/dist/transport/link/audio-references.js';
import { openNodeSocket } from '../../../scheduler/dist/transport/ws/node-socket.js';
import { createNodeSockets } from '../../../scheduler/dist/transport/ws/node-sockets.js';
import { createRoomFrames } from '../../../scheduler/dist/transport/ws/rooms/session-rooms.js';
import { openSessionSocket } from '../../../scheduler/dist/transport/ws/session-socket.js';
import type { WireEnd } from '../net/wire.ts';
import { attachWire } from './attach-wire.ts';
import { openGate, principalOf } from './open-gate.ts';

export interface SimulatedInstance {
  readonly machine: Machine;
  readonly core: Core;
  /** It joins the other instances. */
  start(): Promise<void>;
  /** SIGTERM: it drains and leaves. */
  stop(): Promise<void>;
  acceptNode(end: WireEnd): void;
  acceptSession(end: WireEnd): void;
  dispatch(body: Body): Promise<DispatchOutcome>;
  /** POST /v1/translate for several languages. */
  translate(body: TranslateRequest & { readonly tgt_lang: string }): Promise<Translated>;
  settled(jobId: JobId, waitMs: number): Promise<JobRecord | undefined>;
  /** The job as a client with a token of this tenant sees it over HTTP. */
  read(
    peer: { readonly machine: Machine; readonly tenant: string },
    jobId: JobId,
  ): Promise<JobRecord | undefined>;
  audio(jobId: JobId): Buffer | undefined;
  audioBytes(): number;
  /** It accepts no new connections. */
  isClosed(): boolean;
}

export type Translated =
  | { readonly kind: 'answered'; readonly targets: ReturnType<typeof viewTargets> }
  | Extract<DispatchOutcome, { kind: 'refused' }>;

const MESSAGE_DEADLINE_MS = 60_000;
/** As the HTTP server has it. */
const MOST_PLANS = 10_000;

export function createSimulatedInstance(deps: {
  readonly machine: Machine;
  readonly config: Config;
  readonly seed: string;
  readonly log: Log;
  readonly meter: Meter;
  /** Absent: it is the only instance. */
  readonly shared?: SharedStore | undefined;
  readonly fetcher: AudioFetcher;
}): SimulatedInstance {
  const { machine, config, log, meter, shared } = deps;
  const { clock, name } = machine;
  const chance = seededChance(`${deps.seed}/${name}/chance`);
  const ids = createSeededIds({
    chance: seededChance(`${deps.seed}/${name}/ids`),
    clock,
    maker: name,
    digestsRequests: shared !== undefined,
  });
  const { audio: limits } = config.scheduler;
  const audio = createAudioStore({
    maxBytes: limits.max_bytes_total,
    maxBytesPerJob: limits.max_bytes_per_job,
  });
  const references = createAudioReferences({
    tokens: { isShared: false, issue: (jobId) => `token-of-${jobId}` },
    inlineMaxBytes: limits.inline_max_bytes,
  });
  const address = addressOf(machine);
  references.serveAt(address);
  const sockets = createNodeSockets({ clock });
  const newName = () => ids.traceId();
  const instanceId = nameInstance(config.scheduler.cluster.instance_id, { hostname: name, newName });
  const roomFrames = createRoomFrames();
  const core = createCore({
    config,
    log,
    clock,
    chance,
    ids,
    meter,
    slow: { waited() {}, took() {} },
    process: { hostname: name, pid: 1, newName, instanceId },
    sockets,
    audio: {
      store: audio,
      references,
      fetcher: deps.fetcher,
    },
    shared,
  });
  const { registry, jobs, sessions, multiInstance, reader, backgroundServices } = core;
  const doors = new Set<{ cut(reason: 'shutdown'): void }>();
  const gate = openGate({ clock, meter, config });
  const require = createRequirements(coreIdsOf(config));
  const runPlan = createRunRequest({ runner: core.plans, clock, max: MOST_PLANS });
  let isDraining = false;
  let isLeaving = false;

  const shutDown = createShutDown({
    sessions,
    jobs,
    registry,
    sockets,
    socketServer: {
      async close() {
        for (const door of doors) door.cut('shutdown');
      },
    },
    http: { async close() {} },
    endpoints: core.endpoints,
    webhooks: core.webhooks,
    loop: { stop() {} },
    clock,
    log,
    withdraw: multiInstance?.withdraw,
    leave: async () => {
      backgroundServices.stop();
      await multiInstance?.stop();
    },
    drainTimeoutMs: config.server.drain_timeout_ms,
    drains: () => {
      isDraining = true;
    },
    leaves: () => {
      isLeaving = true;
    },
  });

  function admit(end: WireEnd, open: Parameters<typeof attachWire>[2]): void {
    const door = attachWire(end, log, (socket) => {
      const handler = open(socket);
      return {
        ...handler,
        ended() {
          doors.delete(door);
          return handler.ended();
        },
      };
    });
    doors.add(door);
  }

  function build(
    body: TranslateRequest & { readonly tgt_lang: string },
  ): Extract<BuiltDispatch, { kind: 'built' }> | Extract<DispatchOutcome, { kind: 'refused' }> {
    const built = buildDispatch(body, {
      tenantId: body.tenant_id ?? DEFAULT_TENANT,
      utteranceIndex: ids.utteranceIndex(),
      sessionId: '',
      traceId: ids.traceId(),
      digest: ids.digest,
      require,
    });
    return built.kind === 'built' ? built : refused('INVALID_MESSAGE', built.message);
  }

  return {
    machine,
    core,
    async start() {
      await multiInstance?.start(address);
      backgroundServices.start();
    },
    stop: shutDown,
    acceptNode(end) {
      if (isLeaving) end.close(CLOSING, 'shutdown');
      else
        admit(end, (socket) =>
          openNodeSocket(
            {
              registry,
              jobs: core.reports?.bySocket ?? jobs,
              gate,
              sockets,
              clock,
              meter,
              log,
              onPartial: core.onPartial,
              registrationDeadlineMs: MESSAGE_DEADLINE_MS,
            },
            socket,
            principalOf('node', end.peer),
          ),
        );
    },
    acceptSession(end) {
      if (isDraining || sessions.isFull()) end.close(CLOSING, 'shutdown');
      else
        admit(end, (socket) =>
          openSessionSocket(
            {
              sessions,
              rooms: core.rooms.members,
              roomFrames,
              gate,
              ids,
              clock,
              meter,
              log,
              maxMessageBytes: 2 * 1024 * 1024,
              initDeadlineMs: MESSAGE_DEADLINE_MS,
            },
            socket,
            principalOf('client', end.peer),
            end.peer.name,
          ),
        );
    },
    async dispatch(body) {
      if (isDraining) return DRAINING;
      const built = build(body);
      return built.kind === 'refused' ? built : backgroundServices.dispatch(built.request);
    },
    async translate(body) {
      if (isDraining) return DRAINING;
      const built = build(body);
      if (built.kind === 'refused') return built;
      const deadlineAt = clock.now() + config.scheduler.job_deadline_ms;
      const made = readPlan(body, built.request, deadlineAt);
      if (made.kind === 'invalid') return refused('INVALID_MESSAGE', made.message);
      // A caller that hangs up ends its wait only, and so does a wait that is over.
      const answers = await runPlan(made.plan, body.wait_ms ?? 0, new AbortController().signal);
      if (answers === 'full') return refused('RATE_LIMITED', 'too many plans');
      return { kind: 'answered', targets: viewTargets(made.plan, answers) };
    },
    settled: (jobId, waitMs) => reader.settled(jobId, waitMs),
    read: (peer, jobId) => readJob({ gate, reader }, principalOf('client', peer.machine, peer.tenant), jobId),
    audio: audio.get,
    audioBytes: audio.size,
    isClosed: () => isDraining,
  };
}

const CLOSING = 1012;
const refused = (code: ErrorCode, message: string) => ({ kind: 'refused', code, message }) as const;
const DRAINING = refused('SCHEDULER_DEPENDENCY_DOWN', 'this instance is going away');

/** The address that it writes into references to its audio. */
export const addressOf = ({ name }: Machine): string => `http://${name}:5010`;
