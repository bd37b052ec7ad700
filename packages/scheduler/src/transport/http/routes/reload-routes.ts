/** Reloads the configuration on request: operators the pools, admins also the tokens. */
import type { FastifyReply } from 'fastify';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices, Reload } from '../server/http-services.ts';

type Reloaded = Extract<Awaited<ReturnType<Reload>>, { kind: 'reloaded' }>;

export function addReloadRoutes(routes: Routes, reload: NonNullable<HttpServices['reload']>): void {
  async function answer(begin: Reload, reply: FastifyReply, view: (reloaded: Reloaded) => object) {
    const result = await begin();
    if (result.kind === 'reloaded') return view(result);
    if (result.kind === 'unavailable') return replyError(reply, NO_FILE);
    return replyError(reply, { code: 'INVALID_CONFIG', detail: result.problems.join('; ') });
  }

  routes.add('POST', '/api/v1/phase3/reload', {}, (_request, reply) =>
    answer(reload.pools, reply, viewPools),
  );

  routes.add('POST', '/api/v1/reload', {}, (_request, reply) =>
    answer(reload.all, reply, (reloaded) => ({
      ...viewPools(reloaded),
      credentials_changed: reloaded.hasChangedCredentials,
    })),
  );
}

const viewPools = ({ hasChanged, poolCount, needRestart }: Reloaded) => ({
  ok: true,
  changed: hasChanged,
  pool_count: poolCount,
  needs_restart: needRestart,
});

const NO_FILE = {
  code: 'UNSUPPORTED_FEATURE',
  detail: 'this scheduler was not started from a configuration file, so there is nothing to reload',
} as const;
