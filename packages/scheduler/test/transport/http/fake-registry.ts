/** A node registry that accepts every registration unchanged. */
import type { NodeView } from '../../../src/domain/node.ts';
import { nmtProduct } from '../../../src/domain/profile.ts';
import type {
  Heartbeat,
  NodeStatus,
  RegisterOutcome,
  Registration,
} from '../../../src/management/node-registry.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { HttpServices } from '../../../src/transport/http/server/http-services.ts';

export function createFakeRegistry({ clock }: { clock: Clock }) {
  const nodes = new Map<string, NodeStatus>();
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
        supports: [],
        isLegacy: false,
      },
      health: 'ready',
      isConnected: true,
      isFresh: true,
      isCalm: true,
      isQueueing: false,
      isCordoned: false,
      isEjected: false,
      slots: registration.slots ?? 4,
      lastBeatAt: clock.now(),
      markedServices: [],
      markedTypes: [],
    };
    return {
      view,
      credential: registration.credential,
      generation: 1,
      channel: registration.channel,
      intervalMs: 15_000,
      registeredAt: clock.now(),
      resources: { runningJobs: 0 },
      ...(registration.report.languages !== undefined && { languages: registration.report.languages }),
    };
  }

  const commands: [nodeId: string, command: string][] = [];
  const registry: HttpServices['registry'] = {
    async register(registration) {
      registrations.push(registration);
      if (refusal !== undefined) return refusal;
      const status = statusOf(registration);
      nodes.set(status.view.nodeId, status);
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
    async control(nodeId, command) {
      commands.push([nodeId, command]);
      const node = nodes.get(nodeId);
      if (node === undefined) return false;
      nodes.set(nodeId, { ...node, view: { ...node.view, isCordoned: command !== 'uncordon' } });
      return true;
    },
    get: (nodeId) => nodes.get(nodeId),
    list({ limit, cursor = '' }) {
      const later = [...nodes.values()].filter(({ view }) => view.nodeId > cursor);
      const page = later.slice(0, limit);
      const last = page.at(-1)?.view.nodeId;
      return { nodes: page, ...(later.length > limit && last !== undefined ? { cursor: last } : {}) };
    },
  };

  return {
    ...registry,
    registrations,
    beats,
    commands,
    /** The node has opened a socket. */
    connect(nodeId: string) {
      const node = nodes.get(nodeId);
      if (node !== undefined) nodes.set(nodeId, { ...node, channel: 'socket' });
    },
    refuseWith: (outcome: RegisterOutcome) => {
      refusal = outcome;
    },
  };
}
