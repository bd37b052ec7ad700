/**
 * Webhooks: posts events to the receivers of tenants and of operators. An event is offered on the one instance at which it happened: the
 * driver of a job, the holder of a node, the one that saved the end of a room, the first instance that takes the lock of a quota.
 */
import { createBoundedMap } from '../domain/bounded-map.ts';
import type { JobId, NodeId, SessionId, TenantId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { RoomRecord } from '../domain/room.ts';
import type { TenantQuota } from '../domain/tenancy.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { EndpointCaller } from '../ports/endpoint-caller.ts';
import type { Locks } from '../ports/locks.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import {
  type EventSubject,
  isLoss,
  jobEnded,
  nodeLost,
  quotaReached,
  roomEnded,
  type WebhookEvent,
} from './events.ts';
import { createOutbox, type Outbox, type OutboxSettings } from './outbox.ts';

export interface Receiver {
  readonly name: string;
  readonly url: string;
  /** Signs the bodies. */
  readonly secret: string;
  /** Absent: a receiver of operators. */
  readonly tenantId: TenantId | undefined;
  readonly types: ReadonlySet<string>;
  readonly withTexts: boolean;
}

export interface Webhooks {
  /** The tenant has a receiver. */
  isWantedBy(tenantId: TenantId): boolean;
  /** The outcome of a job was written by this instance. */
  jobEnded(job: JobRecord): void;
  /** This instance saved the end of the room. `retentionMs`: of the transcript of a recorded one. */
  roomEnded(room: RoomRecord, reason: 'ended' | 'expired', retentionMs: number): void;
  /** A node of this instance went offline. Only losses become events. */
  nodeOffline(nodeId: NodeId, reason: string): void;
  /** This instance refused something because of the tenant's own limit. */
  quotaReached(tenantId: TenantId, limit: TenantQuota): void;
  erase(about: { sessionId: SessionId; jobId?: JobId | undefined; tenantId?: TenantId | undefined }): void;
  /** A receiver with the same address and tenant keeps its events. */
  change(receivers: readonly Receiver[]): void;
  waiting(): number;
  /** Resolves when every event that is due was tried. */
  idle(): Promise<void>;
  stop(): void;
}

export interface WebhookSettings extends OutboxSettings {
  readonly timeoutMs: number;
}

/** The same limit of a tenant is an event only so often. */
const QUOTA_AGAIN_MS = 600_000;
const MAX_QUOTAS = 10_000;

interface Open {
  receiver: Receiver;
  caller: EndpointCaller & { close(): void };
  readonly outbox: Outbox;
}

const keyOf = ({ tenantId = '', url }: Receiver): string => `${tenantId} ${url}`;

export function createWebhooks(deps: {
  readonly receivers: readonly Receiver[];
  readonly settings: WebhookSettings;
  /** A caller that signs with this secret. */
  readonly openCaller: (secret: string) => EndpointCaller & { close(): void };
  readonly locks: Locks;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly chance: Chance;
  readonly meter: Meter;
  readonly log: Log;
}): Webhooks {
  const { settings, openCaller, locks, clock, log } = deps;
  let open = new Map<string, Open>();
  let byTenant = new Map<TenantId | undefined, readonly Open[]>();
  const toldQuotas = createBoundedMap<string, true>({
    max: MAX_QUOTAS,
    maxAgeMs: QUOTA_AGAIN_MS,
    now: clock.now,
  });

  function openReceiver(receiver: Receiver): Open {
    const { name } = receiver;
    const opened: Open = {
      receiver,
      caller: openCaller(receiver.secret),
      outbox: createOutbox({
        ...deps,
        name,
        post: (body) => opened.caller.post(opened.receiver.url, body, settings.timeoutMs),
      }),
    };
    return opened;
  }

  function keep(known: Open, receiver: Receiver): Open {
    if (known.receiver.secret !== receiver.secret) {
      known.caller.close();
      known.caller = openCaller(receiver.secret);
    }
    known.receiver = receiver;
    return known;
  }

  function close({ caller, outbox }: Open, reason: 'removed' | 'stopping'): void {
    outbox.close(reason);
    caller.close();
  }

  function change(receivers: readonly Receiver[]): void {
    const next = new Map<string, Open>();
    for (const receiver of receivers) {
      const known = open.get(keyOf(receiver));
      next.set(keyOf(receiver), known === undefined ? openReceiver(receiver) : keep(known, receiver));
    }
    for (const [key, each] of open) if (!next.has(key)) close(each, 'removed');
    open = next;
    byTenant = new Map();
    for (const each of next.values()) {
      const { tenantId } = each.receiver;
      byTenant.set(tenantId, [...(byTenant.get(tenantId) ?? []), each]);
    }
  }

  const wanting = (tenantId: TenantId | undefined, type: string): readonly Open[] =>
    (byTenant.get(tenantId) ?? []).filter(({ receiver }) => receiver.types.has(type));

  function tellOperators(event: WebhookEvent): void {
    for (const { outbox } of wanting(undefined, event.type)) outbox.offer(event);
  }

  async function tellQuota(tenantId: TenantId, limit: TenantQuota): Promise<void> {
    try {
      if (!(await locks.take(`webhook:quota:${tenantId}:${limit}`, QUOTA_AGAIN_MS))) return;
      tellOperators(quotaReached(tenantId, limit, clock.now()));
    } catch (err) {
      log.warn({ tenant_id: tenantId, limit, err }, 'could not decide which instance reports a quota');
    }
  }

  change(deps.receivers);
  return {
    isWantedBy: (tenantId) => byTenant.has(tenantId),
    jobEnded(job) {
      const { jobId, sessionId, tenantId } = job;
      for (const { receiver, outbox } of wanting(tenantId, 'job_ended')) {
        const { withTexts } = receiver;
        outbox.offer(jobEnded(job, withTexts), withTexts ? { jobId, sessionId, tenantId } : undefined);
      }
    },
    roomEnded(room, reason, retentionMs) {
      for (const { outbox } of wanting(room.tenantId, 'room_ended'))
        outbox.offer(roomEnded(room, reason, retentionMs));
    },
    nodeOffline(nodeId, reason) {
      if (isLoss(reason)) tellOperators(nodeLost(nodeId, reason, clock.now()));
    },
    quotaReached(tenantId, limit) {
      const key = `${limit} ${tenantId}`;
      if (toldQuotas.has(key) || wanting(undefined, 'quota_reached').length === 0) return;
      toldQuotas.set(key, true);
      void tellQuota(tenantId, limit);
    },
    erase(about) {
      const isMeant = ({ jobId, sessionId, tenantId }: EventSubject): boolean =>
        (about.jobId === undefined ? sessionId === about.sessionId : jobId === about.jobId) &&
        (about.tenantId === undefined || tenantId === about.tenantId);
      for (const { outbox } of open.values()) outbox.erase(isMeant);
    },
    change,
    waiting: () => [...open.values()].reduce((sum, { outbox }) => sum + outbox.waiting(), 0),
    idle: async () => void (await Promise.all([...open.values()].map(({ outbox }) => outbox.idle()))),
    stop() {
      for (const each of open.values()) close(each, 'stopping');
      open = new Map();
      byTenant = new Map();
    },
  };
}
