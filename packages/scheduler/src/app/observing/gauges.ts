/** Composition root: gauges that are read when metrics are printed, and the limits they are compared with. */
import type { MemoryJobStore } from '../../adapters/memory/job-store.ts';
import type { MemoryNodeMailbox } from '../../adapters/memory/node-mailbox.ts';
import type { Config } from '../../config/settings.ts';
import { METRICS, type MetricEntry } from '../../domain/metrics.ts';
import type { ModelReports } from '../../management/marks/model-reports.ts';
import type { AudioStore } from '../../ports/audio-store.ts';
import type { Meter } from '../../ports/meter.ts';
import type { RunningJobService } from '../../runtime/create-job-service.ts';
import type { UsageRecorder } from '../../runtime/usage/record-usage.ts';
import type { Rooms } from '../../session/rooms/create-rooms.ts';
import type { SessionService } from '../../session/session-service.ts';
import type { HttpServer } from '../../transport/http/server/create-http-server.ts';
import { WAIT_KINDS, type WaitKind } from '../../transport/http/server/waits.ts';
import type { MultiInstance } from '../multi-instance.ts';
import type { SharedStore } from '../shared-store.ts';

export interface GaugedParts {
  readonly meter: Pick<Meter, 'gauge'>;
  readonly jobs: Pick<RunningJobService, 'inFlight' | 'waiting' | 'tenants'>;
  readonly sessions: Pick<SessionService, 'counts' | 'tenants'>;
  readonly store: Pick<MemoryJobStore, 'levels'>;
  readonly events: { size(): number };
  /** Absent: the mailbox is in the shared store, which limits each node's mailbox only. */
  readonly mailbox: Pick<MemoryNodeMailbox<unknown>, 'levels'> | undefined;
  readonly audio: Pick<AudioStore, 'size'>;
  readonly usage: Pick<UsageRecorder, 'waiting'>;
  readonly webhooks: { waiting(): number };
  readonly http: { waits(kind: WaitKind): number } & Pick<HttpServer, 'connections'>;
  readonly gate: { tenants(): number };
  readonly declarations: { bytes(): number; readonly limit: number };
  readonly rooms: Pick<Rooms, 'counts'>;
  readonly loop: { delayP99(): number };
  readonly modelReports: Pick<ModelReports, 'levels'>;
  readonly multiInstance:
    | Pick<MultiInstance, 'replica' | 'pending' | 'backlog' | 'isFenced' | 'handling'>
    | undefined;
  readonly shared: Pick<SharedStore, 'unfitServers'> | undefined;
}

export function createPrintGauges(parts: GaugedParts): () => void {
  const {
    meter,
    jobs,
    sessions,
    store,
    events,
    mailbox,
    audio,
    usage,
    webhooks,
    http,
    gate,
    declarations,
    loop,
    rooms,
    modelReports,
    multiInstance,
    shared,
  } = parts;
  return () => {
    meter.gauge('scheduler_jobs_inflight', jobs.inFlight());
    meter.gauge('scheduler_jobs_waiting', jobs.waiting());
    meter.gauge('scheduler_usage_waiting', usage.waiting());
    meter.gauge('scheduler_webhooks_waiting', webhooks.waiting());
    meter.gauge('scheduler_audio_store_bytes', audio.size());
    const { sessions: open, connected, watched, resultBytes } = sessions.counts();
    meter.gauge('scheduler_sessions', connected, { state: 'connected' });
    meter.gauge('scheduler_sessions', open - connected, { state: 'resumable' });
    meter.gauge('scheduler_utterances_running', watched);
    meter.gauge('scheduler_session_result_bytes', resultBytes);
    const { rooms: followed, members } = rooms.counts();
    meter.gauge('scheduler_rooms', followed);
    meter.gauge('scheduler_room_members', members);
    const counted = { sessions: sessions.tenants(), ...jobs.tenants(), requests: gate.tenants() };
    for (const [of, count] of Object.entries(counted)) meter.gauge('scheduler_tenants_known', count, { of });
    const { bindings, retained, retainedBytes } = store.levels();
    meter.gauge('scheduler_request_bindings', bindings);
    meter.gauge('scheduler_jobs_retained', retained);
    meter.gauge('scheduler_jobs_retained_bytes', retainedBytes);
    meter.gauge('scheduler_job_listeners', events.size());
    for (const kind of WAIT_KINDS) meter.gauge('scheduler_http_waits', http.waits(kind), { kind });
    for (const [state, count] of Object.entries(http.connections()))
      meter.gauge('scheduler_http_connections', count, { state });
    const mailed = mailbox?.levels();
    if (mailed !== undefined) {
      meter.gauge('scheduler_mailbox_jobs', mailed.jobs, { of: 'all' });
      meter.gauge('scheduler_mailbox_jobs', mailed.most, { of: 'fullest' });
    }
    meter.gauge('scheduler_declared_bytes', declarations.bytes(), { of: 'fleet' });
    meter.gauge('scheduler_declared_bytes', declarations.limit, { of: 'limit' });
    const reports = modelReports.levels();
    meter.gauge('scheduler_model_na_backlog', reports.queue, { of: 'queue' });
    meter.gauge('scheduler_model_na_backlog', reports.nodes, { of: 'nodes' });
    meter.gauge('scheduler_model_na_backlog', reports.versions, { of: 'versions' });
    if (multiInstance !== undefined) printMultiInstance(multiInstance);
    if (shared !== undefined) meter.gauge('scheduler_store_unfit_servers', shared.unfitServers());
    meter.gauge('scheduler_event_loop_delay_seconds', loop.delayP99());
  };
  function printMultiInstance(parts: NonNullable<GaugedParts['multiInstance']>): void {
    const { replica, pending, backlog, isFenced, handling } = parts;
    const { known, own, refused } = replica.stats();
    meter.gauge('scheduler_replica_nodes', own, { of: 'own' });
    meter.gauge('scheduler_replica_nodes', known, { of: 'others' });
    meter.gauge('scheduler_replica_nodes', refused, { of: 'refused' });
    meter.gauge('scheduler_pending_node_reports', pending.size());
    for (const [of, count] of Object.entries(backlog()))
      meter.gauge('scheduler_instance_backlog', count, { of });
    meter.gauge('scheduler_cluster_messages_in_progress', handling());
    meter.gauge('scheduler_instance_fenced', isFenced() ? 1 : 0);
  }
}

/** The settings that bound each gauge, set once, so that alarms can compare both. */
export function setLimitGauges(meter: Pick<Meter, 'gauge'>, config: Config): void {
  for (const { kind, limits = [] } of Object.values<MetricEntry>(METRICS)) {
    if (kind !== 'gauge') continue;
    for (const setting of limits) {
      const value = valueAt(config, setting);
      if (typeof value === 'number') meter.gauge('scheduler_limit', value, { setting });
    }
  }
}

const valueAt = (config: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (table, name) =>
        typeof table === 'object' && table !== null
          ? (table as Readonly<Record<string, unknown>>)[name]
          : undefined,
      config,
    );
