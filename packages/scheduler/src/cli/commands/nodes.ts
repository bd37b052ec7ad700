/** The commands `lingua nodes`, `node`, `cordon`, `uncordon` and `drain`. */
import type { NodeDetail, NodeOrderReply, NodesReply, NodeView } from '@lingua/protocol';
import type { CommandIo } from '../command-io.ts';
import { printDuration } from '../duration.ts';
import {
  noWords,
  OPERATOR_FLAGS_USAGE,
  type OperatorCommand,
  type OperatorRequest,
  onlyWord,
  runOperatorCommand,
  WATCH_USAGE,
} from '../operator-command.ts';
import type { Colour, Paint } from '../paint.ts';
import { printFields } from '../print-fields.ts';
import { type Column, printable, printTable } from '../print-table.ts';
import { readPages } from '../read-pages.ts';

const NODES: OperatorCommand = {
  name: 'nodes',
  usage: `Usage: lingua nodes [options]

Shows the nodes of all instances by id, each as its instance sees it. "?" marks unknown values. Exits with 0, or with 1 if the
scheduler did not answer.

  --status STATUS    only registering, ready, degraded, draining or offline ones
  --limit N          how many (100)
${WATCH_USAGE}
${OPERATOR_FLAGS_USAGE}`,
  own: ['status', 'limit', 'watch'],
  async run(request) {
    noWords(request);
    const { io, isJson, flags, paint } = request;
    const { rows, hasMore } = await readPages(request, '/api/v1/nodes', { status: flags.status }, nodesIn);
    if (isJson) io.out(JSON.stringify(rows, undefined, 2));
    else io.out(rows.length === 0 ? 'No nodes.' : printTable(COLUMNS, rows, paint));
    if (hasMore && !isJson) io.out('… and more; --limit N shows N.');
    return 0;
  },
};

const NODE: OperatorCommand = {
  name: 'node',
  usage: `Usage: lingua node ID [options]

Shows one node: what it can do, services it lacks, and its last attempts with outcome, duration and reason. Each instance
remembers the attempts of the jobs that it drove. Exits with 0, or with 1 if the scheduler did not answer or has no such node.
"lingua simulate" connects simulated nodes.

${WATCH_USAGE}
${OPERATOR_FLAGS_USAGE}`,
  own: ['watch'],
  async run(request) {
    const id = onlyWord(request, 'the id of the node');
    const node = await request.client.call<NodeDetail>('GET', `/api/v1/nodes/${id}`);
    request.io.out(request.isJson ? JSON.stringify(node, undefined, 2) : printNode(node, request.paint));
    return 0;
  },
};

const order = (name: 'cordon' | 'uncordon' | 'drain', effect: string): OperatorCommand => ({
  name,
  usage: `Usage: lingua ${name} NODE [options]

${effect} Exits with 0, or with 1 if the scheduler did not answer or has no such node.

  --reason TEXT      for the log
${OPERATOR_FLAGS_USAGE}`,
  own: ['reason'],
  run: (request) => orderNode(request, name),
});

async function orderNode(request: OperatorRequest, name: string): Promise<number> {
  const { client, io, isJson, flags } = request;
  const path = `/api/v1/nodes/${onlyWord(request, 'the id of the node')}/${name}`;
  const body = flags.reason === undefined ? {} : { reason: flags.reason };
  const reply = await client.call<NodeOrderReply>('POST', path, {}, body);
  const { node_id, status, cordoned, running_jobs = 0 } = reply;
  const state = `${node_id}: ${status}${cordoned ? ', cordoned' : ''}, ${running_jobs} running jobs`;
  io.out(isJson ? JSON.stringify(reply, undefined, 2) : printable(state));
  return 0;
}

const command =
  (which: OperatorCommand) =>
  (argv: readonly string[], io: CommandIo): Promise<number> =>
    runOperatorCommand(which, argv, io);

export const runNodes = command(NODES);
export const runNode = command(NODE);
export const runCordon = command(
  order('cordon', 'Gives a node no new jobs; running ones go on. "lingua uncordon" ends it.'),
);
export const runUncordon = command(order('uncordon', 'Gives a cordoned or draining node jobs again.'));
export const runDrain = command(
  order('drain', 'Gives a node no new jobs and asks it to stop after the running ones, if it can.'),
);

const nodesIn = ({ nodes }: NodesReply): readonly NodeView[] => nodes;

const STATUS_COLOURS: Readonly<Record<string, Colour>> = {
  ready: 'green',
  registering: 'yellow',
  degraded: 'yellow',
  draining: 'yellow',
  offline: 'red',
};

const percent = (value: number | undefined): string | undefined =>
  value === undefined || value < 0 ? undefined : `${Math.round(value)} %`;

const age = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : printDuration(ms);

const COLUMNS: readonly Column<NodeView>[] = [
  { title: 'NODE', cell: (node) => node.node_id },
  {
    title: 'STATUS',
    cell: ({ status, cordoned }) => (cordoned ? `${status}, cordoned` : status),
    colour: ({ status, cordoned }) => (cordoned ? 'yellow' : STATUS_COLOURS[status]),
  },
  { title: 'USED', cell: (node) => node.used_slots },
  { title: 'SLOTS', cell: (node) => node.max_concurrent_jobs },
  { title: 'BEAT', cell: (node) => age(node.heartbeat_age_ms) },
  { title: 'CPU', cell: (node) => percent(node.cpu_percent) },
  { title: 'GPU', cell: (node) => percent(node.gpu_percent) },
  { title: 'MEMORY', cell: (node) => percent(node.mem_percent) },
  { title: 'READY FOR', cell: (node) => node.ready_types.join(', ') || '-' },
  {
    title: 'LACKS',
    cell: (node) => node.unavailable_services?.join(', ') ?? '-',
    colour: (node) => (node.unavailable_services === undefined ? undefined : 'yellow'),
  },
  { title: 'INSTANCE', cell: (node) => node.instance_id ?? '-' },
];

const OUTCOME_COLOURS: Readonly<Record<string, Colour>> = { finished: 'green', failed: 'red' };

const ATTEMPTS: readonly Column<NodeDetail['recent_attempts'][number]>[] = [
  { title: 'ENDED', cell: ({ ended_at_ms }) => new Date(ended_at_ms).toISOString() },
  { title: 'JOB', cell: (attempt) => attempt.job_id },
  { title: 'ATTEMPT', cell: (attempt) => attempt.attempt_id },
  {
    title: 'OUTCOME',
    cell: (attempt) => attempt.outcome,
    colour: ({ outcome }) => OUTCOME_COLOURS[outcome],
  },
  { title: 'MS', cell: (attempt) => Math.round(attempt.duration_ms) },
  { title: 'REASON', cell: (attempt) => attempt.reason ?? '-' },
  { title: 'DRIVEN BY', cell: (attempt) => attempt.instance_id ?? '-' },
];

export function printNode(node: NodeDetail, paint: Paint): string {
  const { languages, services, marks, recent_attempts: attempts, unreachable } = node;
  const status = `${node.status}${node.cordoned ? ', cordoned' : ''}`;
  const fields = printFields([
    ['node', node.node_id],
    ['status', node.reason === undefined ? status : `${status}: ${node.reason}`],
    ['instance', node.instance_id],
    [
      'outdated',
      node.outdated === true ? 'its instance did not answer; values are the last known' : undefined,
    ],
    ['slots', `${node.used_slots} of ${node.max_concurrent_jobs} used`],
    ['heartbeat', age(node.heartbeat_age_ms) && `${age(node.heartbeat_age_ms)} ago`],
    ['version', node.version],
    ['recognises', languages.asr.join(', ')],
    ['repairs', languages.semantic.join(', ')],
    ['translates', `${languages.nmt_sources.join(', ')} to ${languages.nmt_targets.join(', ')}`],
    ['speaks', languages.tts.join(', ')],
    ['ready for', node.ready_types.join(', ')],
    [
      'services',
      services.map((one) => (one.ready ? one.service_id : `${one.service_id} (not ready)`)).join(', '),
    ],
    ['lacks', marks.map(({ service_id, phase }) => `${service_id} (${phase})`).join(', ')],
    ['no answer from', unreachable.join(', ')],
  ]);
  const last = attempts.length === 0 ? 'No recent attempts.' : printTable(ATTEMPTS, attempts, paint);
  return `${fields}\n\n${last}`;
}
