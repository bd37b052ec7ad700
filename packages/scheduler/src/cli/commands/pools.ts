/** The command `lingua pools`: the pools of nodes and the state of each. */
import type { PoolsReply } from '@lingua/protocol';
import type { CommandIo } from '../command-io.ts';
import {
  noWords,
  OPERATOR_FLAGS_USAGE,
  type OperatorCommand,
  type OperatorRequest,
  runOperatorCommand,
  WATCH_USAGE,
} from '../operator-command.ts';
import { type Column, printable, printTable } from '../print-table.ts';

const USAGE = `Usage: lingua pools [options]

Shows the pools in force: their nodes, how many of them are online and ready, on how many each core service is installed and on
how many it is ready (3/2), and some of them. Exits with 0, or with 1 if the scheduler did not answer.

${WATCH_USAGE}
${OPERATOR_FLAGS_USAGE}`;

const POOLS: OperatorCommand = { name: 'pools', usage: USAGE, own: ['watch'], run: showPools };

export const runPools = (argv: readonly string[], io: CommandIo): Promise<number> =>
  runOperatorCommand(POOLS, argv, io);

async function showPools(request: OperatorRequest): Promise<number> {
  const { client, isJson, io } = request;
  noWords(request);
  const pools = await client.call<PoolsReply>('GET', '/api/v1/phase3/pools');
  io.out(isJson ? JSON.stringify(pools, undefined, 2) : printPools(pools));
  return 0;
}

type Pool = PoolsReply['pools'][number];

export function printPools({ config, pools, unpooled }: PoolsReply): string {
  const left = unpooled?.total_nodes ?? 0;
  if (config.enabled !== true) {
    return `The nodes are not divided into pools (scheduler.pools.enabled = false): all ${left} are one.`;
  }
  const isStrict = config.strict_pool_eligibility === true;
  const sections = [
    `${pools.length} pools${isStrict ? ', strict' : ''}${overrides(config)}${dedicated(config)}`,
    printTable(columnsFor(pools), pools),
    ...(left === 0
      ? []
      : [`${left} in no pool, for example ${(unpooled?.sample_node_ids ?? []).join(', ')}`]),
  ];
  return printable(sections.join('\n\n'), { keepsLines: true });
}

function columnsFor(pools: readonly Pool[]): readonly Column<Pool>[] {
  const core = Object.keys(pools[0]?.core_services_installed ?? {});
  return [
    { title: 'POOL', cell: (pool) => pool.pool_id },
    { title: 'NAME', cell: (pool) => pool.pool_name ?? '-' },
    { title: 'NODES', cell: (pool) => pool.total_nodes },
    { title: 'ONLINE', cell: (pool) => pool.online_nodes },
    { title: 'READY', cell: (pool) => pool.ready_nodes },
    ...core.map(
      (name): Column<Pool> => ({
        title: name,
        cell: (pool) => `${pool.core_services_installed[name] ?? 0}/${pool.core_services_ready[name] ?? 0}`,
      }),
    ),
    { title: 'REQUIRES', cell: (pool) => listed(pool.pool_required_services) },
    { title: 'FOR EXAMPLE', cell: (pool) => listed(pool.sample_node_ids) },
  ];
}

const listed = (words: readonly string[] | undefined): string =>
  words === undefined || words.length === 0 ? '-' : words.join(', ');

/** Pools that take only jobs of the tenants that are bound to them. */
function dedicated({ pools }: PoolsReply['config']): string {
  if (!Array.isArray(pools)) return '';
  const ids = pools.filter((pool) => pool.dedicated === true).map(({ pool_id }) => pool_id as number);
  return ids.length === 0 ? '' : `; dedicated to them: ${ids.join(', ')}`;
}

function overrides({ tenant_overrides: bound }: PoolsReply['config']): string {
  if (!Array.isArray(bound) || bound.length === 0) return '';
  const pairs = bound.map(
    ({ tenant_id, pool_id }: { tenant_id: string; pool_id: number }) => `${tenant_id} -> ${pool_id}`,
  );
  return `; tenants bound: ${pairs.slice(0, 10).join(', ')}${pairs.length > 10 ? ' …' : ''}`;
}
