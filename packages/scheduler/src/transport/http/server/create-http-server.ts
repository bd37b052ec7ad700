/** The HTTP server: its limits and its routes. Makes no decisions. */
import type { AddressInfo } from 'node:net';
import { LONGEST_WAIT_MS } from '@lingua/protocol';
import fastify, { type FastifyInstance } from 'fastify';
import { redactUrl } from '../../access/redact-url.ts';
import { createConnectionCloser } from '../connections/close-connections.ts';
import { createListeningServers, type ListeningServers } from '../connections/listening-server.ts';
import { createReadDispatch } from '../requests/read-dispatch.ts';
import { addCaptionRoutes } from '../rooms/caption-routes.ts';
import { addRoomRoutes } from '../rooms/room-routes.ts';
import { addAudioRoute } from '../routes/audio-route.ts';
import { addCheckRoute } from '../routes/check-route.ts';
import { addClusterRoutes } from '../routes/cluster-routes.ts';
import { addDispatchRoute } from '../routes/dispatch-route.ts';
import { addEraseRoutes } from '../routes/erase-routes.ts';
import { addExplainRoutes } from '../routes/explain-routes.ts';
import { addGlossaryRoutes } from '../routes/glossary-routes.ts';
import { addHealthRoutes } from '../routes/health-routes.ts';
import { addJobAudioRoute } from '../routes/job-audio-route.ts';
import { addJobEventsRoute } from '../routes/job-events-route.ts';
import { addJobReportRoutes } from '../routes/job-report-routes.ts';
import { addJobRoutes } from '../routes/job-routes.ts';
import { addMetricsRoute } from '../routes/metrics-route.ts';
import { addNodeRoutes } from '../routes/node-routes.ts';
import { addOperatorRoutes } from '../routes/operator-routes.ts';
import { addReloadRoutes } from '../routes/reload-routes.ts';
import { addStatsRoute } from '../routes/stats-route.ts';
import { addTokenRoutes, addWhoamiRoute } from '../routes/token-routes.ts';
import { addTranslateRoute } from '../routes/translate-route.ts';
import { addUsageRoute } from '../routes/usage-route.ts';
import { addLiveRoutes } from '../watch/live-routes.ts';
import { addWatchRoutes } from '../watch/watch-routes.ts';
import { stripBasePath, stripUpgrades } from './base-path.ts';
import { addConsole } from './console.ts';
import { addCors } from './cors.ts';
import { createRoutes } from './declare-route.ts';
import { addDocs } from './docs.ts';
import { createHandleError } from './handle-error.ts';
import { createHandleUnknownRoute } from './handle-unknown-route.ts';
import type { HttpServices } from './http-services.ts';
import { compileValidator, parseBodies } from './read-input.ts';
import { createWaits, type Waits } from './waits.ts';

/** A connection without traffic for longer than the longest poll is dead. */
const SILENT_CONNECTION_MS = LONGEST_WAIT_MS + 30_000;
/** Requests that are unanswered after it are cut off. */
const CLOSE_GRACE_MS = 5_000;
/** Ids have at most 128 characters; a longer one still gets an error that names the field. */
const MAX_PATH_PART_LENGTH = 512;

export interface HttpServer {
  readonly app: FastifyInstance;
  /** Resolves with the address, including the assigned port. */
  listen(at: { host: string; port: number }): Promise<AddressInfo>;
  /** Accepts no more connections, ends long polls, and lets running requests finish within the grace period. */
  close(graceMs?: number): Promise<void>;
  /** Open long polls and event streams. */
  waits: Waits['size'];
  connections: ListeningServers['levels'];
  useCertificate: ListeningServers['useCertificate'];
}

export function createHttpServer(services: HttpServices): HttpServer {
  const { settings, log, clock } = services;
  const handleError = createHandleError(services);
  const servers = createListeningServers({ ...services, silentMs: SILENT_CONNECTION_MS });
  const app: FastifyInstance = fastify({
    logger: false,
    bodyLimit: settings.maxBodyBytes,
    serverFactory: servers.create,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestIdHeader: false,
    // HEAD on a long poll would fetch jobs and drop them.
    exposeHeadRoutes: false,
    rewriteUrl: ({ url = '/' }) => stripBasePath(settings.basePath, url),
    routerOptions: { maxParamLength: MAX_PATH_PART_LENGTH },
    frameworkErrors: (error, request, reply) => {
      handleError(error, request as never, reply as never);
    },
    // Each server has its own handler.
    clientErrorHandler: () => {},
  });
  stripUpgrades(app.server, settings.basePath);
  const closeConnections = createConnectionCloser(app.server, clock);
  const waits = createWaits({ max: settings.maxWaits, meter: services.meter, gate: services.gate });
  const routes = createRoutes(app, services);
  const readDispatch = createReadDispatch(services);

  parseBodies(app);
  app.setValidatorCompiler(compileValidator);
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(createHandleUnknownRoute(routes.declared, settings.hasDocs));
  app.decorateRequest('principal');
  // Ends long polls, so that closing does not take as long as the longest one.
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
  if (settings.hasDocs) addDocs(app, services);
  const { consoleFolder: folder, basePath } = settings;
  if (folder !== undefined) addConsole(app, { folder, basePath });
  app.after(() => {
    addDispatchRoute(routes, services, readDispatch);
    addTranslateRoute(routes, services, readDispatch, waits);
    addNodeRoutes(routes, services, waits);
    addJobReportRoutes(routes, services);
    addJobRoutes(routes, services, waits);
    if (services.glossaries !== undefined) addGlossaryRoutes(routes, services, services.glossaries);
    if (services.erasure !== undefined) addEraseRoutes(routes, services, services.erasure);
    addJobEventsRoute(routes, services, waits);
    addJobAudioRoute(routes, services);
    if (services.audio !== undefined) addAudioRoute(routes, services, services.audio);
    addOperatorRoutes(routes, services);
    if (services.cluster !== undefined) addClusterRoutes(routes, services, services.cluster);
    if (services.live !== undefined) addLiveRoutes(routes, services, services.live, waits);
    if (services.reload !== undefined) addReloadRoutes(routes, services.reload);
    if (services.watch !== undefined) addWatchRoutes(routes, services, services.watch);
    if (services.stats !== undefined) addStatsRoute(routes, services, services.stats);
    if (services.readUsage !== undefined) addUsageRoute(routes, services, services.readUsage);
    if (services.explainServices !== undefined) addExplainRoutes(routes, services, services.explainServices);
    if (services.rooms !== undefined) {
      addRoomRoutes(routes, services, services.rooms);
      addCaptionRoutes(routes, services, services.rooms, waits);
    }
    addHealthRoutes(routes, services);
    addCheckRoute(routes, services);
    addWhoamiRoute(routes);
    addTokenRoutes(routes, services);
    if (services.metrics !== undefined) addMetricsRoute(routes, services.metrics);
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
    connections: servers.levels,
    useCertificate: servers.useCertificate,
  };
}
