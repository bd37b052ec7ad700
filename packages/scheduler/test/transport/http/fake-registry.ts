/** Remembers who registered; every node is what it says it is. */
import type { NodeView } from '../../../src/domain/node.ts';
import { nmtProduct } from '../../../src/domain/profile.ts';
import type {
  Heartbeat,
  NodeRegistry,
  NodeStatus,
  RegisterOutcome,
  Registration,
} from '../../../src/management/node-registry.ts';
import type { Clock } from '../../../src/ports/clock.ts';

export function createFakeRegistry({ clock }: { clock: Clock }) {
  const nodes = new Map<string, { status: NodeStatus; credential: string }>();
  const registrations: Registration[] = [];
  const beats: Heartbeat[] = [];
  let refusal: RegisterOutcome | undefined;

  function statusOf(registration: Registration): NodeStatus {
    const { semantic = [], tts = [] } = registration.report.languages ?? {};
    const view: NodeView = {
      nodeId: registration.nodeId ?? 'node-new',
      profile: {
        installedTypes: 'any',
        readyTypes: (registration.report.types ?? []).filter((type) => type.isReady).map(({ type }) => type),
        installedServices: [],
        readyServices: [],
        asr: 'any',
        semantic,
        tts,
        nmt: nmtProduct(semantic, semantic),
        features: [],
        hasGpu: true,
        acceptsPublicJobs: true,
        supports: [],
        isDeployed: false,
      },
      health: 'ready',
      isFresh: true,
      isCalm: true,
      isQueueing: false,
      isCordoned: false,
      isEjected: false,
      slots: registration.slots ?? 4,
      lastBeatAt: clock.now(),
      markedServices: [],
      poolIds: [],
    };
    return {
      view,
      generation: 1,
      channel: registration.channel,
      isConnected: true,
      registeredAt: clock.now(),
      resources: { runningJobs: 0 },
    };
  }

  const registry: NodeRegistry = {
    async register(registration) {
      registrations.push(registration);
      if (refusal !== undefined) return refusal;
      const status = statusOf(registration);
      nodes.set(status.view.nodeId, { status, credential: registration.credential });
      return {
        kind: 'registered',
        nodeId: status.view.nodeId,
        generation: 1,
        health: 'ready',
        heartbeatIntervalMs: 15_000,
        isReturning: false,
      };
    },
    async heartbeat(beat) {
      beats.push(beat);
      return nodes.has(beat.nodeId) ? { kind: 'beat', health: 'ready' } : { kind: 'unknown_node' };
    },
    disconnected: () => {},
    async control(nodeId, command) {
      const node = nodes.get(nodeId);
      if (node === undefined) return false;
      const view = { ...node.status.view, isCordoned: command !== 'uncordon' };
      nodes.set(nodeId, { ...node, status: { ...node.status, view } });
      return true;
    },
    recordOutcome: () => {},
    get: (nodeId) => nodes.get(nodeId)?.status,
    list({ limit, cursor = '' }) {
      const later = [...nodes.values()].filter(({ status }) => status.view.nodeId > cursor);
      const page = later.slice(0, limit).map(({ status }) => status);
      const last = page.at(-1)?.view.nodeId;
      return { nodes: page, ...(later.length > limit && last !== undefined ? { cursor: last } : {}) };
    },
    stop: () => {},
  };

  return {
    ...registry,
    registrations,
    beats,
    credentialOf: (nodeId: string) => nodes.get(nodeId)?.credential,
    refuseWith: (outcome: RegisterOutcome) => {
      refusal = outcome;
    },
  };
}
