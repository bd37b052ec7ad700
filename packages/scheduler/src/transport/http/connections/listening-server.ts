/**
 * Creates the servers that listen, plain or with TLS, and bounds their connections. A host with two addresses has two
 * servers, which share the limits.
 */
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import type { Clock } from '../../../ports/clock.ts';
import type { Meter } from '../../../ports/meter.ts';
import { createNetworks } from '../../access/networks.ts';
import { stripBasePath } from '../server/base-path.ts';
import type { HttpSettings } from '../server/http-services.ts';
import { createConnectionLimits } from './connection-limits.ts';
import { createHandleClientError } from './handle-client-error.ts';
import { closeStalledConnections } from './stalled-connections.ts';

/** How often Node.js looks for requests that take too long: they end at most this much after their limit. */
const CHECK_MS = 500;

/** Contents of PEM files. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
  /** Authorities of client certificates; absent: clients show none. */
  readonly clientCa?: string | undefined;
}

export interface ListeningServers {
  /** Called by the framework for each address. */
  create(handler: RequestListener): Server;
  /** For new connections; open ones keep theirs. Only if there was one at the start. */
  useCertificate(certificate: ServerCertificate): void;
  /** Open connections that are not WebSockets. */
  levels(): { readonly idle: number; readonly busy: number };
}

export function createListeningServers(deps: {
  readonly settings: HttpSettings;
  readonly clock: Clock;
  readonly meter: Pick<Meter, 'count'>;
  readonly certificate?: ServerCertificate | undefined;
  /** A connection without traffic for longer is closed. */
  readonly silentMs: number;
}): ListeningServers {
  const { settings, clock, meter, silentMs } = deps;
  const proxies = createNetworks(settings.trustedProxies);
  const limits = createConnectionLimits({
    meter,
    maxIdle: settings.maxIdleConnections,
    maxIdlePerAddress: settings.maxIdleConnectionsPerAddress,
    maxBusy: settings.maxConnections,
    isProxy: proxies.includes,
    isAlwaysServed: (url) => stripBasePath(settings.basePath, url).startsWith('/health'),
  });
  const secured = new Set<ReturnType<typeof createSecureServer>>();
  const options: ServerOptions = {
    requestTimeout: settings.requestTimeoutMs,
    headersTimeout: settings.headersTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    connectionsCheckingInterval: CHECK_MS,
  };
  let { certificate } = deps;

  function open(handler: RequestListener): Server {
    if (certificate === undefined) return createServer(options, handler);
    const server = createSecureServer(
      { ...options, ...secureServer(certificate), handshakeTimeout: settings.headersTimeoutMs },
      handler,
    );
    secured.add(server);
    return server;
  }

  return {
    create(handler) {
      const server = open((request, response) => {
        if (limits.admit(request, response)) handler(request, response);
      });
      limits.watch(server);
      closeStalledConnections(server, clock, silentMs);
      server.on('clientError', createHandleClientError(meter));
      return server;
    },
    useCertificate(next) {
      certificate = next;
      for (const server of secured) server.setSecureContext(secureContext(next));
    },
    levels: limits.levels,
  };
}

const secureContext = ({ cert, key, clientCa }: ServerCertificate): SecureContextOptions => ({
  cert,
  key,
  ...(clientCa !== undefined && { ca: clientCa }),
  minVersion: 'TLSv1.2',
});

/** A client without a certificate is accepted, because it may have a token; one with a bad certificate gets no rights from it. */
const secureServer = (certificate: ServerCertificate): TlsOptions => ({
  ...secureContext(certificate),
  requestCert: certificate.clientCa !== undefined,
  rejectUnauthorized: false,
});
