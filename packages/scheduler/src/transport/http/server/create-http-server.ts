/** The HTTP server: how it is protected, and its routes. Services come in; nothing is decided here. */
import type { AddressInfo } from 'node:net';
import { LONGEST_WAIT_MS } from '@lingua/protocol';
import fastify, { type FastifyInstance } from 'fastify';
import { redactUrl } from '../../access/redact-url.ts';
import { addAudioRoute } from '../routes/audio-route.ts';
import { addClusterRoutes } from '../routes/cluster-routes.ts';
import { addDirectRoute } from '../routes/direct-route.ts';
import { addDispatchRoute } from '../routes/dispatch-route.ts';
import { addExplainRoutes } from '../routes/explain-routes.ts';
import { addHealthRoutes } from '../routes/health-routes.ts';
import { addJobEventsRoute } from '../routes/job-events-route.ts';
import { addJobReportRoutes } from '../routes/job-report-routes.ts';
import { addJobRoutes } from '../routes/job-routes.ts';
import { addMetricsRoute } from '../routes/metrics-route.ts';
import { addNodeRoutes } from '../routes/node-routes.ts';
import { addOperatorRoutes } from '../routes/operator-routes.ts';
import { addPoolReloadRoute } from '../routes/pool-reload-route.ts';
import { addStatsRoute } from '../routes/stats-route.ts';
import { createConnectionCloser } from './close-connections.ts';
import { compileValidator } from './compile-validator.ts';
import { addCors } from './cors.ts';
import { createRoutes } from './declare-route.ts';
import { addDocs } from './docs.ts';
import { handleClientError } from './handle-client-error.ts';
import { createHandleError } from './handle-error.ts';
import { createHandleUnknownRoute } from './handle-unknown-route.ts';
import type { HttpServices } from './http-services.ts';
import { parseBodies } from './parse-body.ts';
import { cutSilentConnections } from './silent-connections.ts';
import { createWaits } from './waits.ts';

/** A connection on which nothing moves for longer than the longest poll is dead. */
const SILENT_CONNECTION_MS = LONGEST_WAIT_MS + 30_000;
/** Requests that are still unanswered after it are cut off. */
const CLOSE_GRACE_MS = 5_000;
/** Ids have at most 128 characters; longer ones still deserve an answer that names the field. */
const LONGEST_PATH_PART = 512;

export interface HttpServer {
  readonly app: FastifyInstance;
  /** Answers where it listens, with the port it was given. */
  listen(at: { host: string; port: number }): Promise<AddressInfo>;
  /** Takes no more connections, ends what waits, and lets running requests finish for at most the grace. */
  close(graceMs?: number): Promise<void>;
  /** Answers that are held back now. */
  waits(): number;
}

export function createHttpServer(services: HttpServices): HttpServer {
  const { settings, log, clock } = services;
  const handleError = createHandleError(services);
  const app: FastifyInstance = fastify({
    logger: false,
    bodyLimit: settings.maxBodyBytes,
    // Of the second server, if a host has two addresses; of the first one see below.
    connectionTimeout: SILENT_CONNECTION_MS,
    requestTimeout: settings.requestTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    http: { headersTimeout: settings.headersTimeoutMs },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestIdHeader: false,
    // HEAD on a long poll would take jobs and throw them away.
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: LONGEST_PATH_PART },
    frameworkErrors: (error, request, reply) => {
      handleError(error, request as never, reply as never);
    },
    clientErrorHandler: handleClientError,
  });
  app.server.maxConnections = settings.maxConnections;
  app.server.setTimeout(0);
  cutSilentConnections(app.server, clock, SILENT_CONNECTION_MS);
  const closeConnections = createConnectionCloser(app.server, clock);
  const waits = createWaits({ max: settings.maxWaits });
  const routes = createRoutes(app, services);

  parseBodies(app);
  app.setValidatorCompiler(compileValidator);
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(createHandleUnknownRoute(routes.declared));
  app.decorateRequest('principal');
  // Whoever waits is answered now, so that closing does not take as long as the longest poll.
  app.addHook('preClose', (done) => {
    waits.abortAll();
    done();
  });
  if (settings.logsRequests) {
    app.addHook('onResponse', (request, reply, done) => {
      const { method, url } = request;
      const fields = { method, url: redactUrl(url), status: reply.statusCode, ms: reply.elapsedTime };
      log.debug(fields, 'request answered');
      done();
    });
  }
  if (settings.corsOrigins.length > 0) addCors(app, settings.corsOrigins);
  if (settings.hasDocs) addDocs(app, settings.version ?? '0.0.0');
  // After the docs plugin, which collects what is declared from then on.
  app.after(() => {
    addDispatchRoute(routes, services);
    addNodeRoutes(routes, services, waits);
    addJobReportRoutes(routes, services);
    addJobRoutes(routes, services, waits);
    addJobEventsRoute(routes, services, waits);
    if (services.audio !== undefined) addAudioRoute(routes, services, services.audio);
    addOperatorRoutes(routes, services);
    if (services.cluster !== undefined) addClusterRoutes(routes, services, services.cluster);
    if (services.pools !== undefined) addPoolReloadRoute(routes, services.pools);
    if (services.stats !== undefined) addStatsRoute(routes, services, services.stats);
    if (services.explaining !== undefined) addExplainRoutes(routes, services, services.explaining);
    addHealthRoutes(routes, services);
    if (services.metrics !== undefined) addMetricsRoute(routes, services.metrics);
    if (services.direct !== undefined) addDirectRoute(app, services, services.direct);
  });

  return {
    app,
    async listen({ host, port }) {
      await app.listen({ host, port });
      return app.server.address() as AddressInfo;
    },
    async close(graceMs = CLOSE_GRACE_MS) {
      const stop = closeConnections(graceMs);
      await app.close().finally(stop);
    },
    waits: waits.size,
  };
}
