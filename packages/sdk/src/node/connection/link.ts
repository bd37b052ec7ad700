/** A node's connection: registers after every connect, and reconnects after every loss. */
import {
  type NodeRegister,
  type NodeRegisterAck,
  parseSchedulerToNode,
  type SchedulerToNode,
} from '@lingua/protocol';
import type { NodeLimits, NodeLog, NodeOptions, NodeTimings } from '../node-options.ts';
import { nextTry } from './backoff.ts';
import { type Connection, type ConnectionLoss, createConnection } from './connection.ts';
import { refusalOfRegistration, type StartError } from './refusal.ts';

export interface Link extends Pick<Connection, 'open' | 'ping' | 'bufferedBytes' | 'close' | 'cut'> {
  /** False: the node is not registered now. */
  send(text: string): boolean;
  isRegistered(): boolean;
  /** The id of the last registration, or the configured one. */
  nodeId(): string | undefined;
  /** Disconnects and reconnects immediately. */
  rejoin(): void;
  counts(): { readonly reconnects: number; readonly invalidFrames: number };
}

export function createLink(deps: {
  readonly url: string;
  readonly token: string | undefined;
  readonly tls?: NodeOptions['tls'];
  readonly nodeId: string | undefined;
  readonly timings: NodeTimings;
  readonly limits: NodeLimits;
  readonly chance: () => number;
  readonly log: NodeLog;
  readonly buildFirstMessage: (nodeId: string | undefined) => NodeRegister;
  readonly onConnected: () => void;
  readonly onRegistered: (ack: NodeRegisterAck) => void;
  /** Called only while registered. */
  readonly onMessage: (message: SchedulerToNode) => void;
  readonly onPong: (data: string) => void;
  readonly onLost: (loss: ConnectionLoss) => void;
  /** The node was never registered, and a retry would not help; the link has ended. */
  readonly onRefused: (error: StartError) => void;
}): Link {
  const { timings, log } = deps;
  let nodeId = deps.nodeId;
  let registeredAt: number | undefined;
  let registrations = 0;
  let failures = 0;
  let delayMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let invalidFrames = 0;

  const connection = createConnection({
    url: deps.url,
    token: deps.token,
    tls: deps.tls,
    connectTimeoutMs: timings.connectTimeoutMs,
    pingIntervalMs: timings.pingIntervalMs,
    maxMessageBytes: deps.limits.maxMessageBytes,
    onOpen: register,
    onText: receive,
    onPong: deps.onPong,
    onRefused: ({ reason, error }) => {
      log.error({ reason }, 'the scheduler refused the connection');
      refuse(error);
    },
    onError: (error) => log.warn({ error }, 'the connection failed'),
    onLost: lost,
    retryDelayMs: () => delayMs,
  });

  function register(): void {
    timer = setTimeout(() => {
      log.warn({}, 'the scheduler does not answer the registration');
      connection.cut();
    }, timings.registerTimeoutMs);
    connection.send(JSON.stringify(deps.buildFirstMessage(nodeId)));
    deps.onConnected();
  }

  function receive(text: string): void {
    const parsed = parseSchedulerToNode(text);
    if (parsed.kind === 'invalid') {
      invalidFrames += 1;
      // An unknown type means a newer scheduler, not an error.
      if (parsed.problem.path === '/type')
        log.debug({ problem: parsed.problem }, 'an unknown message was ignored');
      else log.warn({ problem: parsed.problem }, 'ignored an invalid message of the scheduler');
    } else if (parsed.message.type === 'node_register_ack') registered(parsed.message);
    else if (registeredAt !== undefined) deps.onMessage(parsed.message);
    else if (parsed.message.type === 'error') {
      const { code, message: reason } = parsed.message;
      log.error({ code, reason }, 'the scheduler refused the registration');
      refuse(refusalOfRegistration(code, reason));
    } else log.warn({ type: parsed.message.type }, 'ignored a message that arrived before the registration');
  }

  /** A node that was registered goes on trying: its scheduler may be configured right again. */
  function refuse(error: StartError | undefined): void {
    if (error === undefined || registrations > 0) return;
    clearTimeout(timer);
    void connection.close();
    deps.onRefused(error);
  }

  function registered(ack: NodeRegisterAck): void {
    clearTimeout(timer);
    if (nodeId !== undefined && nodeId !== ack.node_id)
      log.warn({ asked: nodeId, node_id: ack.node_id }, 'the scheduler assigned the node another id');
    nodeId = ack.node_id;
    if (registeredAt === undefined) registrations += 1;
    registeredAt = Date.now();
    log.info({ node_id: nodeId, status: ack.status }, 'registered');
    deps.onRegistered(ack);
  }

  function lost(loss: ConnectionLoss): void {
    clearTimeout(timer);
    const registeredMs = registeredAt === undefined ? 0 : Date.now() - registeredAt;
    registeredAt = undefined;
    const next = nextTry(failures, { code: loss.code, registeredMs }, deps.chance(), timings);
    failures = next.failures;
    delayMs = next.delayMs;
    log.warn({ code: loss.code, reason: loss.reason, retry_in_ms: delayMs }, 'not connected');
    deps.onLost(loss);
  }

  return {
    open: connection.open,
    ping: connection.ping,
    bufferedBytes: connection.bufferedBytes,
    cut: connection.cut,
    close(code, reason) {
      clearTimeout(timer);
      registeredAt = undefined;
      return connection.close(code, reason);
    },
    send: (text) => registeredAt !== undefined && connection.send(text),
    isRegistered: () => registeredAt !== undefined,
    nodeId: () => nodeId,
    rejoin() {
      failures = 0;
      connection.leave(1000, 'reconnect');
    },
    counts: () => ({ reconnects: Math.max(0, registrations - 1), invalidFrames }),
  };
}
