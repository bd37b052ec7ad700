/** The commands `lingua jobs`, `job` and `cancel`. */
import type { JobCancelReply, JobSummary, JobsReply, JobView } from '@lingua/protocol';
import type { CommandIo } from '../command-io.ts';
import { printDuration } from '../duration.ts';
import {
  noWords,
  OPERATOR_FLAGS_USAGE,
  type OperatorCommand,
  onlyWord,
  runOperatorCommand,
  WATCH_USAGE,
} from '../operator-command.ts';
import type { Colour, Paint } from '../paint.ts';
import { printFields } from '../print-fields.ts';
import { type Column, printable, printTable } from '../print-table.ts';
import { readPages } from '../read-pages.ts';

const JOBS: OperatorCommand = {
  name: 'jobs',
  usage: `Usage: lingua jobs [options]

Shows the jobs of all instances, newest first. Exits with 0, or with 1 if the scheduler did not answer.

  --outcome OUTCOME  only waiting, running, finished, failed or cancelled ones
  --reason CODE      only those that failed or wait for this reason, such as JOB_TIMEOUT
  --node ID          only those of this node
  --session ID       only those of this session
  --tenant ID        only those of this tenant
  --limit N          how many (100)
${WATCH_USAGE}
${OPERATOR_FLAGS_USAGE}`,
  own: ['outcome', 'reason', 'node', 'session', 'tenant', 'limit', 'watch'],
  async run(request) {
    noWords(request);
    const { io, isJson, flags, paint } = request;
    const { outcome, reason, node: node_id, session: session_id, tenant: tenant_id } = flags;
    const query = { outcome, reason, node_id, session_id, tenant_id };
    const { rows, hasMore } = await readPages(request, '/api/v1/jobs', query, ({ jobs }: JobsReply) => jobs);
    if (isJson) io.out(JSON.stringify(rows, undefined, 2));
    else io.out(rows.length === 0 ? 'No such jobs.' : printTable(COLUMNS, rows, paint));
    if (hasMore && !isJson) io.out('… and more; --limit N shows N.');
    return 0;
  },
};

const JOB: OperatorCommand = {
  name: 'job',
  usage: `Usage: lingua job ID [options]

Shows one job and its history. Recognised and translated texts are shown with --json only. Exits with 0, or with 1 if the
scheduler did not answer or has no such job.

${WATCH_USAGE}
${OPERATOR_FLAGS_USAGE}`,
  own: ['watch'],
  async run(request) {
    const id = onlyWord(request, 'the id of the job');
    const job = await request.client.call<JobView>('GET', `/v1/job/${id}`);
    request.io.out(request.isJson ? JSON.stringify(job, undefined, 2) : printJob(job, request.paint));
    return 0;
  },
};

const CANCEL: OperatorCommand = {
  name: 'cancel',
  usage: `Usage: lingua cancel JOB [options]

Cancels a job. Exits with 0, or with 1 if the scheduler did not answer, has no such job, or the job had ended before.

  --reason TEXT      for the job's history and the log
${OPERATOR_FLAGS_USAGE}`,
  own: ['reason'],
  async run(request) {
    const { client, io, isJson, flags } = request;
    const id = onlyWord(request, 'the id of the job');
    const body = flags.reason === undefined ? {} : { reason: flags.reason };
    const reply = await client.call<JobCancelReply>('POST', `/v1/job/${id}/cancel`, {}, body);
    if (isJson) io.out(JSON.stringify(reply, undefined, 2));
    else if (reply.accepted) io.out(printable(`${request.words[0]}: cancelled`));
    else io.err(printable(`lingua cancel: ${request.words[0]} had ended before (${reply.reason})`));
    return reply.accepted ? 0 : 1;
  },
};

const command =
  (which: OperatorCommand) =>
  (argv: readonly string[], io: CommandIo): Promise<number> =>
    runOperatorCommand(which, argv, io);

export const runJobs = command(JOBS);
export const runJob = command(JOB);
export const runCancel = command(CANCEL);

const COLOURS: Readonly<Record<string, Colour>> = {
  finished: 'green',
  failed: 'red',
  cancelled: 'yellow',
  waiting: 'yellow',
};

const timeOf = (ms: number): string => new Date(ms).toISOString();

const COLUMNS: readonly Column<JobSummary>[] = [
  { title: 'ACCEPTED', cell: (job) => timeOf(job.created_at_ms) },
  { title: 'JOB', cell: (job) => job.job_id },
  { title: 'OUTCOME', cell: (job) => job.outcome, colour: (job) => COLOURS[job.outcome] },
  { title: 'REASON', cell: (job) => job.reason ?? '-' },
  { title: 'NODE', cell: (job) => job.node_id ?? '-' },
  { title: 'ATTEMPT', cell: (job) => job.attempt_id },
  { title: 'TOOK', cell: (job) => printDuration(job.updated_at_ms - job.created_at_ms) },
  { title: 'SESSION', cell: (job) => job.session_id },
  { title: 'TENANT', cell: (job) => job.tenant_id ?? '-' },
];

const STEPS: readonly Column<JobView['timeline'][number]>[] = [
  { title: 'AT', cell: (step) => timeOf(step.at_ms) },
  { title: 'STATE', cell: (step) => step.state },
  { title: 'ATTEMPT', cell: (step) => step.attempt_id },
  { title: 'NODE', cell: (step) => step.node_id ?? '-' },
  { title: 'REASON', cell: (step) => step.reason ?? '-' },
];

export function printJob(job: JobView, paint: Paint): string {
  const fields = printFields([
    ['job', job.job_id],
    ['outcome', job.outcome],
    ['reason', job.reason],
    ['message', job.result?.error?.message],
    ['languages', job.src_lang && `${job.src_lang} to ${job.tgt_lang}`],
    ['session', `${job.session_id}, utterance ${job.utterance_index}`],
    ['request', job.request_id],
    ['tenant', job.tenant_id],
    ['trace', job.trace_id],
    ['deadline', job.deadline_at_ms && timeOf(job.deadline_at_ms)],
  ]);
  return `${fields}\n\n${printTable(STEPS, job.timeline, paint)}`;
}
