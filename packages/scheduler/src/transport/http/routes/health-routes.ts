/** Liveness and readiness of the process. Open to every peer: load balancers send no token. */
import type { FastifyReply } from 'fastify';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import type { Routes } from '../server/declare-route.ts';
import { DRAINING, type HttpServices } from '../server/http-services.ts';

const OPTIONS = { hasHead: true };

export function addHealthRoutes(routes: Routes, services: HttpServices): void {
  const { settings, clock, readiness } = services;
  const startedAt = clock.now();

  const identity = () =>
    omitUndefined({
      instance_id: settings.instanceId,
      version: settings.version,
      uptime_ms: Math.max(0, clock.now() - startedAt),
    });

  const ready = (_request: unknown, reply: FastifyReply) => {
    const { isReady, reasons } = readiness();
    const status = isReady ? 'ok' : reasons.includes(DRAINING) ? DRAINING : 'unavailable';
    if (!isReady) reply.code(503).header('retry-after', '1');
    return { status, reasons, checks: reasons.map((name) => ({ name, ok: false })), ...identity() };
  };

  routes.add('GET', '/health/live', OPTIONS, () => ({ status: 'ok', ...identity() }));
  routes.add('GET', '/health/ready', OPTIONS, ready);
  routes.add('GET', '/health', OPTIONS, ready);
}
