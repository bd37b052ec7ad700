/**
 * Hot path: bounds the connections that are not WebSockets (I11). Idle ones are limited per address and in total: a new
 * one closes the oldest. So a new connection is always accepted, and /health answers. Connections with a request in
 * progress are limited in total.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { Meter } from '../../../ports/meter.ts';
import { networkOf, plainAddress } from '../../access/networks.ts';
import { type Refusal, toErrorReply } from '../../wire/error-reply.ts';
import { onUpgrade } from './stalled-connections.ts';

/** Common clients send one request at a time; proxies and load tests pipeline a few. */
const MAX_UNANSWERED = 128;

export interface ConnectionLimits {
  readonly maxIdle: number;
  readonly maxIdlePerAddress: number;
  readonly maxBusy: number;
  /** A proxy has no limit of its own: its address stands for many clients. */
  isProxy(address: string): boolean;
  /** Whether a request is served although too many are in progress. */
  isAlwaysServed(url: string): boolean;
}

interface Connection {
  readonly socket: Socket;
  readonly peers: Peers;
  unanswered: number;
  hasAsked: boolean;
}

/** The connections of one address, or all of them. */
interface Peers {
  readonly address: string;
  readonly maxIdle: number;
  readonly connections: Set<Connection>;
  idle: number;
}

export function createConnectionLimits(deps: ConnectionLimits & { readonly meter: Pick<Meter, 'count'> }) {
  const { meter } = deps;
  const all = createPeers('', deps.maxIdle);
  const byAddress = new Map<string, Peers>();
  /** The socket of a request is not the accepted one if the server has TLS. */
  const byRequestSocket = new WeakMap<Socket, Connection>();

  function open(socket: Socket): Connection {
    const whole = plainAddress(socket.remoteAddress ?? '');
    const isProxy = deps.isProxy(whole);
    // A proxy is not counted together with its neighbours.
    const address = isProxy ? whole : networkOf(whole);
    const max = isProxy ? deps.maxIdle : deps.maxIdlePerAddress;
    const peers = byAddress.get(address) ?? createPeers(address, max);
    byAddress.set(address, peers);
    const connection: Connection = { socket, peers, unanswered: 0, hasAsked: false };
    for (const each of [peers, all]) each.connections.add(connection);
    socket.once('close', () => leave(connection));
    becomeIdle(connection);
    return connection;
  }

  function leave(connection: Connection): void {
    if (!all.connections.delete(connection)) return;
    const { peers } = connection;
    peers.connections.delete(connection);
    if (connection.unanswered === 0) becomeBusy(connection);
    if (peers.connections.size === 0) byAddress.delete(peers.address);
  }

  function becomeBusy({ peers }: Connection): void {
    peers.idle -= 1;
    all.idle -= 1;
  }

  function becomeIdle({ peers }: Connection): void {
    peers.idle += 1;
    all.idle += 1;
    if (peers.idle > peers.maxIdle) closeOldest(peers, 'idle_address');
    else if (all.idle > all.maxIdle) closeOldest(all, 'idle_total');
  }

  /** Prefers a connection without any request: clients keep the others for their next one. */
  function closeOldest({ connections }: Peers, reason: string): void {
    let oldest: Connection | undefined;
    for (const connection of connections) {
      if (connection.unanswered > 0) continue;
      oldest ??= connection;
      if (connection.hasAsked) continue;
      oldest = connection;
      break;
    }
    if (oldest === undefined) return;
    meter.count('scheduler_connections_refused_total', { reason });
    leave(oldest);
    oldest.socket.destroy();
  }

  /** A connection is counted from its first byte, before its TLS handshake. */
  function watchSecured(server: TlsServer): void {
    const inHandshake = new Map<string, Connection>();
    server.on('connection', (socket: Socket) => {
      const ends = endsOf(socket);
      inHandshake.set(ends, open(socket));
      socket.once('close', () => inHandshake.delete(ends));
    });
    server.on('secureConnection', (socket) => {
      const ends = endsOf(socket);
      const connection = inHandshake.get(ends);
      inHandshake.delete(ends);
      if (connection !== undefined) byRequestSocket.set(socket, connection);
    });
  }

  const busy = (): number => all.connections.size - all.idle;

  return {
    /** Call it before the server listens. */
    watch(server: Server): void {
      if (server instanceof TlsServer) watchSecured(server);
      else server.on('connection', (socket: Socket) => byRequestSocket.set(socket, open(socket)));
      onUpgrade(server, (socket) => {
        const connection = byRequestSocket.get(socket as Socket);
        if (connection !== undefined) leave(connection);
      });
    },

    /** False: the request was refused. */
    admit({ socket, url = '' }: IncomingMessage, response: ServerResponse): boolean {
      // Requests that came in one piece with the one for which it was closed.
      if (socket.destroyed) return false;
      const connection = byRequestSocket.get(socket);
      if (connection === undefined) return true;
      if (connection.unanswered === 0) becomeBusy(connection);
      connection.unanswered += 1;
      connection.hasAsked = true;
      response.once('close', () => {
        connection.unanswered -= 1;
        if (connection.unanswered === 0 && all.connections.has(connection)) becomeIdle(connection);
      });
      if (connection.unanswered > MAX_UNANSWERED) {
        meter.count('scheduler_connections_refused_total', { reason: 'pipelined' });
        socket.destroy();
        return false;
      }
      if (busy() <= deps.maxBusy || deps.isAlwaysServed(url)) return true;
      meter.count('scheduler_connections_refused_total', { reason: 'busy' });
      refuse(response);
      return false;
    },

    levels: () => ({ idle: all.idle, busy: busy() }),
  };
}

const createPeers = (address: string, maxIdle: number): Peers => ({
  address,
  maxIdle,
  connections: new Set(),
  idle: 0,
});

/** Both ends identify a connection. */
const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  [remoteAddress, remotePort, localAddress, localPort].join(' ');

const TOO_BUSY: Refusal = {
  code: 'RATE_LIMITED',
  detail: 'too many requests are in progress on this instance',
};

function refuse(response: ServerResponse): void {
  const { status, headers, body } = toErrorReply(TOO_BUSY);
  const text = JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  const own = { connection: 'close', 'content-type': 'application/json; charset=utf-8' };
  response.writeHead(status, { ...headers, ...own, 'content-length': length }).end(text);
}
