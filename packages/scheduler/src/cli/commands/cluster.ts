/** The command `lingua cluster`: all instances and their store, as one page. */
import type { ClusterInstance, ClusterReply } from '@lingua/protocol';
import type { CommandIo } from '../command-io.ts';
import { printDuration } from '../duration.ts';
import {
  noWords,
  OPERATOR_FLAGS_USAGE,
  type OperatorCommand,
  type OperatorRequest,
  runOperatorCommand,
  WATCH_USAGE,
} from '../operator-command.ts';
import { type Column, printable, printTable } from '../print-table.ts';

const USAGE = `Usage: lingua cluster [options]

Shows all instances of a scheduler, their work, the state of their store, and warnings. "?" marks values that could not be
read in time. Exits with 0, or with 1 if the scheduler did not answer.

${WATCH_USAGE}
${OPERATOR_FLAGS_USAGE}`;

const CLUSTER: OperatorCommand = { name: 'cluster', usage: USAGE, own: ['watch'], run: showCluster };

export const runCluster = (argv: readonly string[], io: CommandIo): Promise<number> =>
  runOperatorCommand(CLUSTER, argv, io);

async function showCluster(request: OperatorRequest): Promise<number> {
  const { client, isJson, io } = request;
  noWords(request);
  const cluster = await client.call<ClusterReply>('GET', '/api/v1/cluster');
  io.out(isJson ? JSON.stringify(cluster, undefined, 2) : printCluster(cluster));
  return 0;
}

const COLUMNS: readonly Column<ClusterInstance>[] = [
  { title: 'INSTANCE', cell: (instance) => instance.instance_id },
  { title: 'STATE', cell: (instance) => instance.state },
  { title: 'UP', cell: ({ uptime_ms: ms }) => (ms === undefined ? undefined : printDuration(ms)) },
  { title: 'HOST', cell: (instance) => instance.hostname },
  { title: 'PID', cell: (instance) => instance.pid },
  { title: 'VERSION', cell: (instance) => instance.version },
  { title: 'NODES', cell: (instance) => instance.nodes },
  { title: 'SESSIONS', cell: (instance) => instance.sessions },
  { title: 'JOBS', cell: (instance) => instance.jobs_in_flight },
  { title: 'POOLS', cell: (instance) => instance.pools_digest ?? '-' },
  { title: 'INBOX', cell: (instance) => instance.inbox_messages },
  { title: 'PENDING', cell: (instance) => instance.inbox_pending },
  { title: 'DEAD LETTERS', cell: (instance) => instance.dead_letters },
];

export function printCluster({ instance_id, store, instances, orphaned, warnings }: ClusterReply): string {
  const detail = store.detail === undefined ? '' : ` (${store.detail})`;
  const head = `store ${STORES[store.mode]}: ${store.ok ? 'well' : 'NOT WELL'}${detail} · answered by ${instance_id}`;
  const left = orphaned.map(
    (orphan) =>
      `  ${orphan.instance_id}  ${orphan.dead_letters} dead letter${orphan.dead_letters === 1 ? '' : 's'}`,
  );
  const sections = [
    head,
    printTable(COLUMNS, instances),
    ...(left.length === 0 ? [] : [['Left by removed instances:', ...left].join('\n')]),
    warnings.length === 0
      ? 'No warnings.'
      : ['Warnings:', ...warnings.map((warning) => `  ! ${warning}`)].join('\n'),
  ];
  return printable(sections.join('\n\n'), { keepsLines: true });
}

const STORES: Readonly<Record<ClusterReply['store']['mode'], string>> = {
  embedded: 'embedded, a single process',
  single: 'Redis',
  sentinel: 'Redis behind Sentinels',
  cluster: 'Redis Cluster',
};
