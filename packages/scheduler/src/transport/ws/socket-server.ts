/** Accepts sockets: decides on each upgrade request before it is answered, and counts open sockets. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { IdSource } from '../../ports/id-source.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { SlowWatch } from '../../ports/slow-watch.ts';
import type { Admission, Gate, Peer, Principal, Role } from '../access/gate.ts';
import { DRAINING_REFUSAL, type Refusal } from '../wire/error-reply.ts';
import { errorReportingSocket } from './error-message.ts';
import { type GuardedSocket, type GuardSettings, guardSocket, type SocketHandler } from './guarded-socket.ts';
import { type NodeSocketDeps, openNodeSocket } from './node-socket.ts';
import { readPeer } from './read-peer.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';

export interface SocketSettings extends GuardSettings {
  readonly maxNodeMessageBytes: number;
  /** From the opening of a node's socket to its node_register. */
  readonly registrationDeadlineMs: number;
}

/** A path that accepts sockets. */
export interface SocketRoute {
  readonly path: string;
  readonly kind: 'node' | 'session';
  readonly role: Role;
  readonly maxMessageBytes: number;
  /**
   * A reason to refuse every peer now. It is checked at the upgrade, because a legacy client that is accepted and
   * then closed reconnects every second.
   */
  readonly refusal?: () => { readonly reason: string; readonly refusal: Refusal } | undefined;
  /** The same check for an authenticated peer. */
  readonly refusalOf?: (principal: Principal) => ReturnType<NonNullable<SocketRoute['refusal']>>;
  /** Must be synchronous: frames may follow immediately. */
  /** `address`: of the peer. */
  open(socket: GuardedSocket, principal: Principal, address: string): SocketHandler;
}

export interface SocketServerDeps extends Omit<NodeSocketDeps, 'registrationDeadlineMs' | 'gate'> {
  readonly server: Server;
  readonly gate: Gate;
  readonly meter: Meter;
  readonly log: Log;
  readonly ids: Pick<IdSource, 'traceId'>;
  readonly isDraining: () => boolean;
  readonly settings: SocketSettings;
  readonly session: SocketRoute;
  /** Absent: slow handling is not recorded. */
  readonly slow?: SlowWatch | undefined;
}

export interface SocketServer {
  count(): number;
  /** Refuses new sockets, closes the open ones with 1012, and resolves when their last messages were handled. */
  close(): Promise<void>;
}

type UpgradeDecision =
  | { kind: 'entered'; route: OpenRoute; principal: Principal; leave: () => void }
  /** `reason` is the label of the metric. */
  | { kind: 'refused'; reason: string; refusal: Refusal };

interface OpenRoute {
  readonly route: SocketRoute;
  readonly sockets: ReturnType<typeof createAcceptor>;
  count: number;
}

/** Programs that fragment a message use frames of thousands of bytes; many small ones are an attack. */
const MAX_FRAGMENTS = 4_096;
const MIN_BYTES_PER_CHUNK = 512;
const LIMIT_SETTINGS = {
  session: 'server.limits.max_message_bytes',
  node: 'server.limits.max_node_message_bytes',
} as const;

export function createSocketServer(deps: SocketServerDeps): SocketServer {
  const { server, gate, meter, log, settings } = deps;
  const node: SocketRoute = {
    path: '/ws/node',
    kind: 'node',
    role: 'node',
    maxMessageBytes: settings.maxNodeMessageBytes,
    open: (socket, principal) =>
      openNodeSocket({ ...deps, registrationDeadlineMs: settings.registrationDeadlineMs }, socket, principal),
  };
  const routes = new Map<string, OpenRoute>();
  for (const route of [node, deps.session]) {
    routes.set(route.path, { route, sockets: createAcceptor(route), count: 0 });
  }
  const open = new Set<ReturnType<typeof guardSocket>>();
  let isClosing = false;

  function decide(request: IncomingMessage): UpgradeDecision | Promise<UpgradeDecision> {
    const { path, peer } = readPeer(request, gate.addressOf);
    const route = routes.get(path);
    if (route === undefined) return refused('unknown_path', UNKNOWN_PATH);
    if (isClosing || deps.isDraining()) return refused('draining', DRAINING_REFUSAL);
    const closed = route.route.refusal?.();
    if (closed !== undefined) return refused(closed.reason, closed.refusal);
    const admission = gate.admit(peer, [route.route.role]);
    return admission instanceof Promise
      ? admission.then((given) => enter(route, peer, given))
      : enter(route, peer, admission);
  }

  function enter(route: OpenRoute, peer: Peer, admission: Admission): UpgradeDecision {
    if (admission.kind === 'refused') {
      const { code, message, retryAfterMs } = admission;
      return refused(code.toLowerCase(), { code, detail: message, retryAfterMs });
    }
    const { principal } = admission;
    const capped = route.route.refusalOf?.(principal);
    if (capped !== undefined) return refused(capped.reason, capped.refusal);
    const entry = gate.enter(principal, peer.address);
    if (entry.kind === 'full') {
      const detail = `too many connections (${entry.limit})`;
      return refused('full', { code: 'RATE_LIMITED', status: 503, detail });
    }
    return { kind: 'entered', route, principal, leave: entry.leave };
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // The peer may reset the connection before the answer.
    socket.on('error', () => socket.destroy());
    const decision = decide(request);
    if (decision instanceof Promise)
      decision.then(
        (decided) => answer(decided, request, socket, head),
        () => socket.destroy(),
      );
    else answer(decision, request, socket, head);
  }

  function answer(decision: UpgradeDecision, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (decision.kind === 'refused') {
      const { reason, refusal } = decision;
      meter.count('scheduler_connections_refused_total', { reason });
      log.info({ address: gate.addressOf(request), reason, detail: refusal.detail }, 'a socket was refused');
      refuseUpgrade(socket, refusal);
      return;
    }
    const { route, leave } = decision;
    let isAccepted = false;
    // The library answers a malformed handshake itself and then does not call back.
    route.sockets.handleUpgrade(request, socket, head, (ws) => {
      isAccepted = true;
      accept(ws, request, decision);
    });
    if (!isAccepted) leave();
  }

  function accept(
    ws: WebSocket,
    request: IncomingMessage,
    { route, principal, leave }: Extract<UpgradeDecision, { kind: 'entered' }>,
  ): void {
    const { kind } = route.route;
    const guarded = guardSocket(
      ws,
      {
        kind,
        rate: gate.openMessageBudget(),
        bytesRead: () => request.socket.bytesRead,
        clock: deps.clock,
        meter,
        log,
        fields: { connection_id: deps.ids.traceId(), kind, address: gate.addressOf(request) },
        settings,
        slow: deps.slow,
      },
      (socket) => route.route.open(socket, principal, gate.addressOf(request)),
    );
    open.add(guarded);
    meterCount(route, 1);
    const release = gate.hold(principal, guarded.cut);
    ws.on('close', () => {
      release();
      leave();
      meterCount(route, -1);
    });
    void guarded.ended.then(() => open.delete(guarded));
  }

  function meterCount(route: OpenRoute, by: number): void {
    route.count += by;
    meter.gauge('scheduler_connections', route.count, { kind: route.route.kind });
  }

  server.on('upgrade', upgrade);

  return {
    count: () => open.size,
    async close() {
      isClosing = true;
      for (const socket of open) socket.cut('shutdown');
      await Promise.all([...open].map(({ ended }) => ended));
    },
  };
}

function createAcceptor(route: SocketRoute) {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    WebSocket: errorReportingSocket(route.maxMessageBytes, LIMIT_SETTINGS[route.kind]),
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: route.maxMessageBytes,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: Math.ceil(route.maxMessageBytes / MIN_BYTES_PER_CHUNK),
  });
}

const refused = (reason: string, refusal: Refusal): UpgradeDecision => ({ kind: 'refused', reason, refusal });

const UNKNOWN_PATH: Refusal = { code: 'NOT_FOUND', detail: 'sockets open at /ws/session and /ws/node' };
