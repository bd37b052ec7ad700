/** Checks settings that refer to each other: pools and tenants, the mode of Redis and its addresses, files of TLS. Pure. */
import type { CheckFinding } from './origin.ts';
import type { Config } from './settings.ts';

export function checkReferences(config: Config): {
  readonly problems: readonly CheckFinding[];
  readonly warnings: readonly CheckFinding[];
} {
  return {
    problems: [
      ...checkPools(config),
      ...checkRedis(config),
      ...checkTenants(config),
      ...checkQuotas(config),
      ...checkTls(config),
    ],
    warnings: [
      ...warnPools(config),
      ...warnUnreachablePools(config),
      ...warnRedis(config),
      ...warnTls(config),
    ],
  };
}

function* checkPools(config: Config): Generator<CheckFinding> {
  const { pools, tenant_overrides: overrides, pool_count: poolCount } = config.scheduler.pools;
  const poolKey = 'scheduler.pools.pools';
  const ids = new Map<number, number>();
  for (const [index, { pool_id }] of pools.entries()) {
    const first = ids.get(pool_id);
    if (first === undefined) ids.set(pool_id, index);
    else
      yield { keys: [`${poolKey}[${index}].pool_id`], message: `is ${pool_id}, like ${poolKey}[${first}]` };
  }
  const tenants = new Set<string>();
  for (const [index, { tenant_id, pool_id }] of overrides.entries()) {
    const at = `scheduler.pools.tenant_overrides[${index}]`;
    const isKnown = pools.length > 0 ? ids.has(pool_id) : pool_id < poolCount;
    if (!isKnown) {
      const known = pools.length > 0 ? [...ids.keys()].join(', ') : `0 to ${poolCount - 1}`;
      yield { keys: [`${at}.pool_id`, poolKey], message: `is ${pool_id}, but the pools are ${known}` };
    }
    if (tenants.has(tenant_id)) yield { keys: [`${at}.tenant_id`], message: `${tenant_id} is bound twice` };
    tenants.add(tenant_id);
  }
}

function* checkTenants({ scheduler }: Config): Generator<CheckFinding> {
  const rows = new Map<string, number>();
  for (const [index, { tenant_id }] of scheduler.tenants.entries()) {
    const first = rows.get(tenant_id);
    if (first === undefined) rows.set(tenant_id, index);
    else
      yield {
        keys: [`scheduler.tenants[${index}].tenant_id`],
        message: `is ${tenant_id}, like scheduler.tenants[${first}]; write one row per tenant`,
      };
  }
}

function* checkQuotas({ scheduler }: Config): Generator<CheckFinding> {
  const rows = new Map<string, number>();
  for (const [index, { tenant_id: tenantId = '', period, unit, soft, hard }] of scheduler.quotas.entries()) {
    const at = `scheduler.quotas[${index}]`;
    const name = `${tenantId} ${period} ${unit}`;
    const first = rows.get(name);
    if (first === undefined) rows.set(name, index);
    else
      yield {
        keys: [`${at}.unit`],
        message: `limits the ${unit} of a ${period} of the same tenant as scheduler.quotas[${first}]; write one row`,
      };
    if (soft === undefined && hard === undefined)
      yield { keys: [`${at}.hard`], message: 'is missing; give hard, soft or both' };
    if (soft !== undefined && hard !== undefined && soft > hard)
      yield {
        keys: [`${at}.soft`],
        message: `is ${soft}, above hard = ${hard}; it would never be reached first`,
      };
  }
}

function* checkRedis(config: Config): Generator<CheckFinding> {
  const { enabled, redis } = config.scheduler.cluster;
  const prefix = 'scheduler.cluster.redis';
  if (!enabled) return;
  if (redis.mode === 'sentinel' && redis.sentinel_urls.length === 0) {
    yield {
      keys: [`${prefix}.sentinel_urls`, `${prefix}.mode`],
      message: 'is empty, but the mode is sentinel',
    };
  }
  if (redis.mode === 'cluster' && redis.db !== 0) {
    yield {
      keys: [`${prefix}.db`, `${prefix}.mode`],
      message: `is ${redis.db}, but a cluster has only database 0`,
    };
  }
  for (const [file, other] of [
    ['tls_cert_file', 'tls_key_file'],
    ['tls_key_file', 'tls_cert_file'],
  ] as const) {
    if (redis[file] === undefined || redis[other] !== undefined) continue;
    yield { keys: [`${prefix}.${file}`], message: `needs ${prefix}.${other} beside it` };
  }
  for (const name of ['cluster_urls', 'sentinel_urls'] as const) {
    const secured = redis[name].filter(isSecured);
    if (secured.length === 0 || secured.length === redis[name].length) continue;
    yield {
      keys: [`${prefix}.${name}`],
      message: 'has addresses with redis:// and with rediss://; TLS is for all connections or for none',
    };
  }
}

const isSecured = (address: string): boolean => address.startsWith('rediss:');

function* warnRedis(config: Config): Generator<CheckFinding> {
  const { enabled, redis } = config.scheduler.cluster;
  const isTls = redis.tls || [redis.url, ...redis.cluster_urls, ...redis.sentinel_urls].some(isSecured);
  if (!enabled || isTls) return;
  for (const name of ['tls_ca_file', 'tls_cert_file'] as const) {
    if (redis[name] === undefined) continue;
    yield {
      keys: [`scheduler.cluster.redis.${name}`],
      message:
        'has no effect: nothing is encrypted without scheduler.cluster.redis.tls = true or a rediss:// address',
    };
  }
}

/** With tokens, only nodes whose token is bound to such a pool can join it: without one, it stays empty. */
function* warnUnreachablePools({ scheduler, server }: Config): Generator<CheckFinding> {
  const { enabled, pools, tenant_overrides: overrides } = scheduler.pools;
  if (!enabled || server.tokens.length === 0) return;
  const rows = [
    ...pools.map(({ pool_id, dedicated }, index) => ({ pool_id, dedicated, at: `pools[${index}]` })),
    ...overrides.map(({ pool_id }, index) => ({
      pool_id,
      dedicated: true,
      at: `tenant_overrides[${index}]`,
    })),
  ];
  const nodeTokens = server.tokens.filter(({ role }) => role === 'node');
  const warned = new Set<number>();
  for (const { pool_id, dedicated, at } of rows) {
    const tenants = overrides.filter((row) => row.pool_id === pool_id).map(({ tenant_id }) => tenant_id);
    const isReachable = nodeTokens.some(
      ({ pool_ids, tenant_id = '' }) => pool_ids?.includes(pool_id) ?? tenants.includes(tenant_id),
    );
    if (!dedicated || isReachable || warned.has(pool_id)) continue;
    warned.add(pool_id);
    yield {
      keys: [`scheduler.pools.${at}.pool_id`, 'server.tokens'],
      message: `is ${pool_id}, which takes only nodes whose token is bound to it, and no token is; add pool_ids = [${pool_id}] to the [[server.tokens]] row of its nodes`,
    };
  }
}

function* checkTls({ server }: Config): Generator<CheckFinding> {
  for (const [file, other] of [
    ['cert_file', 'key_file'],
    ['key_file', 'cert_file'],
    ['client_ca_file', 'cert_file'],
  ] as const) {
    if (server.tls[file] === undefined || server.tls[other] !== undefined) continue;
    yield { keys: [`server.tls.${file}`], message: `needs server.tls.${other} beside it` };
  }
}

function* warnTls({ server }: Config): Generator<CheckFinding> {
  if (server.tls.cert_file === undefined || server.advertise_url?.startsWith('http:') !== true) return;
  yield {
    keys: ['server.advertise_url', 'server.tls.cert_file'],
    message: 'starts with http://, but this server speaks only TLS; write https://',
  };
}

function warnPools(config: Config): readonly CheckFinding[] {
  const { enabled, pools, tenant_overrides: overrides } = config.scheduler.pools;
  if (enabled || pools.length + overrides.length === 0) return [];
  return [
    {
      keys: ['scheduler.pools.enabled', 'scheduler.pools.pools', 'scheduler.pools.tenant_overrides'],
      message: 'is false: the pools and tenant overrides have no effect',
    },
  ];
}
