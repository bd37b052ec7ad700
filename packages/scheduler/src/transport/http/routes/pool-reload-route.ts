/** Reloads the pools from the configuration on an operator's request. */
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { PoolReload } from '../server/http-services.ts';

export function addPoolReloadRoute(routes: Routes, pools: PoolReload): void {
  routes.add('POST', '/api/v1/phase3/reload', {}, async (_request, reply) => {
    const reload = await pools.reload();
    if (reload.kind === 'reloaded') {
      const { hasChanged, poolCount, needRestart } = reload;
      return { ok: true, changed: hasChanged, pool_count: poolCount, needs_restart: needRestart };
    }
    if (reload.kind === 'unavailable') return replyError(reply, NO_FILE);
    return replyError(reply, { code: 'INVALID_CONFIG', detail: reload.problems.join('; ') });
  });
}

const NO_FILE = {
  code: 'UNSUPPORTED_FEATURE',
  detail: 'this scheduler was not started from a configuration file, so there is nothing to reload',
} as const;
