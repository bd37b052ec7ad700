/** Minimal services behind the sockets, which record their calls. */

import type { JobRecord } from '../../../src/domain/job.ts';
import type { JobResult } from '../../../src/domain/job-spec.ts';
import type {
  EarlyText,
  ReportedAttempt,
  ReportedFailure,
  ReportResult,
} from '../../../src/domain/node-report.ts';
import type {
  Heartbeat,
  HeartbeatOutcome,
  NodeRegistry,
  RegisterOutcome,
  Registration,
} from '../../../src/management/node-registry.ts';
import type { Log, LogFields } from '../../../src/ports/log.ts';
import type { Labels, Meter } from '../../../src/ports/meter.ts';
import type { JobService } from '../../../src/runtime/job-service.ts';
import type { Admission, Gate, LostRights, Principal } from '../../../src/transport/access/gate.ts';

export const HEARTBEAT_INTERVAL_MS = 15_000;

export interface FakeRegistry extends Pick<NodeRegistry, 'register' | 'heartbeat' | 'disconnected'> {
  readonly registrations: Registration[];
  readonly beats: Heartbeat[];
  readonly left: { nodeId: string; generation: number }[];
  /** Ids that another credential registered. */
  readonly taken: Set<string>;
  /** Runs inside `register`, before it returns. */
  during: (registration: Registration) => Promise<void> | void;
  refusal: Extract<RegisterOutcome, { kind: 'refused' }> | undefined;
  forget(nodeId: string): void;
}

export function createFakeRegistry(): FakeRegistry {
  const current = new Map<string, number>();
  let generation = 0;
  let named = 0;
  const registry: FakeRegistry = {
    registrations: [],
    beats: [],
    left: [],
    taken: new Set(),
    during: () => {},
    refusal: undefined,
    forget: (nodeId) => current.delete(nodeId),
    async register(registration): Promise<RegisterOutcome> {
      registry.registrations.push(registration);
      generation += 1;
      const mine = generation;
      const asked = registration.nodeId;
      const nodeId = asked === undefined || registry.taken.has(asked) ? `node-fresh-${++named}` : asked;
      if (asked !== nodeId && registration.isIdFixed === true)
        return { kind: 'refused', code: 'NODE_ID_CONFLICT', message: 'taken' };
      const isReturning = current.has(nodeId);
      current.set(nodeId, mine);
      await registry.during(registration);
      if (registry.refusal !== undefined) return registry.refusal;
      return {
        kind: 'registered',
        nodeId,
        generation: mine,
        health: 'registering',
        heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
        isReturning,
      };
    },
    async heartbeat(beat): Promise<HeartbeatOutcome> {
      registry.beats.push(beat);
      if (!current.has(beat.nodeId)) return { kind: 'unknown_node' };
      if (beat.generation !== undefined && current.get(beat.nodeId) !== beat.generation)
        return { kind: 'stale_generation' };
      return { kind: 'beat', health: 'ready' };
    },
    disconnected(nodeId, generationOf) {
      registry.left.push({ nodeId, generation: generationOf });
    },
  };
  return registry;
}

export type JobCall =
  | { kind: 'acknowledge'; answer: ReportedAttempt }
  | { kind: 'tell'; answer: ReportedAttempt; text: EarlyText }
  | { kind: 'finish'; answer: ReportedAttempt; result: JobResult }
  | { kind: 'fail'; answer: ReportedAttempt; failure: ReportedFailure };

export interface FakeJobs extends Pick<JobService, 'acknowledge' | 'tell' | 'finish' | 'fail'> {
  readonly calls: JobCall[];
  /** Runs before each call is recorded. */
  before: (kind: JobCall['kind']) => Promise<void> | void;
  outcome: ReportResult;
}

export function createFakeJobs(): FakeJobs {
  const jobs: FakeJobs = {
    calls: [],
    before: () => {},
    outcome: { kind: 'accepted', job: {} as JobRecord },
    acknowledge: (answer) => note({ kind: 'acknowledge', answer }),
    tell: (answer, text) => note({ kind: 'tell', answer, text }),
    finish: (answer, result) => note({ kind: 'finish', answer, result }),
    fail: (answer, failure) => note({ kind: 'fail', answer, failure }),
  };
  async function note(call: JobCall): Promise<ReportResult> {
    await jobs.before(call.kind);
    jobs.calls.push(call);
    return jobs.outcome;
  }
  return jobs;
}

export const ANONYMOUS: Principal = {
  role: 'node',
  roles: new Set(['node']),
  credential: 'peer:loopback',
  isAnonymous: true,
};

/** Token `pinned` may only be node-pinned, `wrong` is unknown, `client` may not be a node; no token is anonymous. */
export function createFakeGate(limits: {
  maxConnections: number;
  messages: number;
}): Gate & { open: number; ends: ((why: LostRights) => void)[] } {
  const gate: ReturnType<typeof createFakeGate> = {
    open: 0,
    ends: [],
    addressOf: ({ socket }) => socket.remoteAddress ?? '',
    admit({ token, origin }): Admission {
      if (token === 'wrong') return { kind: 'refused', code: 'UNAUTHORIZED', message: 'unknown token' };
      if (token === 'client' || origin === 'https://evil.example')
        return { kind: 'refused', code: 'FORBIDDEN', message: 'forbidden' };
      const pins = token === 'pinned' ? { nodeIds: ['node-pinned'] } : {};
      return {
        kind: 'admitted',
        principal: {
          ...ANONYMOUS,
          ...pins,
          isAnonymous: token === undefined,
          credential: token === undefined ? 'peer:loopback' : `token:${token}`,
        },
      };
    },
    changeCredentials: () => 0,
    hold(_, end) {
      gate.ends.push(end);
      return () => {};
    },
    mayKeepNode: () => true,
    mint: () => undefined,
    tenantOf: () => ({ kind: 'tenant', tenantId: 'default' }),
    mayUseNode: (principal, nodeId) => principal.nodeIds?.includes(nodeId) ?? true,
    spend: () => ({ kind: 'ok' }),
    tenants: () => 0,
    spendTenantBudget: () => ({ kind: 'ok' }),
    enter() {
      if (gate.open >= limits.maxConnections) return { kind: 'full', limit: 'max_connections' };
      gate.open += 1;
      return {
        kind: 'entered',
        leave() {
          gate.open -= 1;
        },
      };
    },
    openMessageBudget() {
      let left = limits.messages;
      return { spend: () => left-- > 0 };
    },
  };
  return gate;
}

export interface FakeMeter extends Meter {
  total(name: string, labels?: Labels): number;
}

export function createFakeMeter(): FakeMeter {
  const totals = new Map<string, number>();
  const key = (name: string, labels: Labels = {}) => `${name}${JSON.stringify(labels)}`;
  return {
    count: (name, labels, by = 1) => totals.set(key(name, labels), (totals.get(key(name, labels)) ?? 0) + by),
    gauge: (name, value, labels) => totals.set(key(name, labels), value),
    observe: () => {},
    total: (name, labels) => totals.get(key(name, labels)) ?? 0,
  };
}

export function createFakeLog(): Log & { lines: { fields: LogFields; message: string }[] } {
  const lines: { fields: LogFields; message: string }[] = [];
  const write = (fields: LogFields, message: string) => void lines.push({ fields, message });
  return { lines, debug: write, info: write, warn: write, error: write };
}
