/** How jobs end on legacy nodes: late, empty, repeated, silent, or not at all. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode, failure, type LegacyNodeOptions, TRANSLATED } from './support/legacy-node.ts';
import { nodesOf, type RunningApp, type Settings, SHORT_TIMES, startApp } from './support/start-app.ts';

/** An app with two nodes; the test decides their answers. */
async function startPair(
  answers: readonly LegacyNodeOptions['answer'][],
  settings: Settings = {},
): Promise<{ app: RunningApp; nodes: ReturnType<typeof connectLegacyNode>[] }> {
  const app = await startApp(settings);
  const nodes = answers.map((answer, index) =>
    connectLegacyNode({ url: app.nodeUrl, nodeId: `node-${index}`, ...(answer && { answer }) }),
  );
  await app.readyNodes(nodes.length);
  return { app, nodes };
}

const SILENT = (): undefined => undefined;

/** The first node that gets the job gives one answer, the next node another. */
function inTurn(
  ...turns: (Record<string, unknown> | undefined)[]
): () => Record<string, unknown> | undefined {
  let at = 0;
  return () => turns[at++];
}

describe('job on a legacy node', () => {
  it('job_cancel does not stop the job, and its late result is harmless', async () => {
    const { app, nodes } = await startPair([SILENT]);
    const { job_id } = await app.dispatch();
    const job = await nodes[0]?.job();
    expect((await app.post(`/v1/job/${job_id}/cancel`)).body).toMatchObject({ accepted: true });
    expect(await nodes[0]?.next('job_cancel')).toMatchObject({ job_id });
    const [busy] = await app.nodes();
    expect(busy?.used_slots).toBe(1);
    if (job) nodes[0]?.reply(job, TRANSLATED);
    await eventually(async () => (await app.nodes())[0]?.used_slots === 0);
    expect((await app.job(job_id)).result).toMatchObject({
      success: false,
      error: { code: 'JOB_CANCELLED' },
    });
    expect(nodes[0]?.frames.some(({ type }) => type === 'error')).toBe(false);
  });

  it('a job is retried only on nodes that never had it', async () => {
    const { app, nodes } = await startPair(
      [1, 2, 3].map(() => () => failure('SEM_REPAIR_TIMEOUT')),
      { 'scheduler.max_retry': 5, 'scheduler.pending_timeout_ms': 100 },
    );
    const job = await app.settled((await app.dispatch()).job_id);
    expect(nodesOf(job).sort()).toEqual(['node-0', 'node-1', 'node-2']);
    expect(nodes.map((node) => node.jobs.length)).toEqual([1, 1, 1]);
    expect(job.result).toMatchObject({ success: false, error: { code: 'PROCESSING_ERROR' } });
  });

  it('text with an empty translation is retried on another node', async () => {
    const turns = inTurn({ ...TRANSLATED, text_translated: '' }, TRANSLATED);
    const { app } = await startPair([turns, turns]);
    const job = await app.settled((await app.dispatch()).job_id);
    expect(nodesOf(job)).toHaveLength(2);
    expect(job.result).toMatchObject({ success: true, text_translated: '你好' });
  });

  it('empty translations on all nodes end with the recognised text', async () => {
    const { app } = await startPair([() => ({ ...TRANSLATED, text_translated: '' })], {
      'scheduler.pending_timeout_ms': 100,
    });
    const job = await app.settled((await app.dispatch()).job_id);
    expect(job.result).toMatchObject({ success: true, text_asr: 'hello', text_translated: '' });
  });

  it('a job is not retried on a node with a later utterance', async () => {
    const { app, nodes } = await startPair([SILENT, SILENT, SILENT]);
    const first = await app.dispatch();
    const holder = nodes.find((node) => node.nodeId() === first.node_id);
    const later = await app.dispatch({
      options: { preferred_node_id: `node-${(indexOf(first.node_id) + 1) % 3}` },
    });
    await eventually(() => nodes[indexOf(later.node_id)]?.jobs.length);
    const job = await holder?.job();
    if (job) holder?.reply(job, failure('SEM_REPAIR_TIMEOUT'));
    await eventually(async () => nodesOf(await app.job(first.job_id)).length === 2);
    expect(nodesOf(await app.job(first.job_id))).not.toContain(later.node_id);
  });

  it('NO_TEXT_ASSIGNED counts by node and job, whatever attempt it names', async () => {
    const { app } = await startPair([
      () => ({
        success: true,
        attempt_id: 41,
        trace_id: 'the-trace-of-another-job',
        text_asr: '',
        text_translated: '',
        extra: { reason: 'NO_TEXT_ASSIGNED' },
      }),
    ]);
    const job = await app.settled((await app.dispatch()).job_id);
    expect(job.result).toMatchObject({ success: true, text_asr: '', extra: { reason: 'NO_TEXT_ASSIGNED' } });
    await eventually(async () => (await app.nodes())[0]?.used_slots === 0);
  });

  it('any other result of another attempt changes nothing', async () => {
    const { app, nodes } = await startPair([() => ({ ...TRANSLATED, attempt_id: 41 })]);
    const { job_id } = await app.dispatch();
    const job = await nodes[0]?.job();
    expect((await app.job(job_id)).state).toBe('DISPATCHED');
    if (job) nodes[0]?.reply(job, TRANSLATED);
    expect((await app.settled(job_id)).result).toMatchObject({ success: true });
  });

  it.each(['DUPLICATE_JOB_ID', 'DUPLICATE_UTTERANCE_INDEX'])(
    'a refusal as %s moves the job and is no failure',
    async (message) => {
      const turns = inTurn(failure(message), TRANSLATED);
      const { app } = await startPair([turns, turns], { 'scheduler.max_retry': 0 });
      const job = await app.settled((await app.dispatch()).job_id);
      expect(job.result).toMatchObject({ success: true });
      expect(nodesOf(job)).toHaveLength(2);
    },
  );

  it.each([
    'ASR_STEP_INVALID_LANG_CONTRACT: auto needs lang_a and lang_b',
    'Unsupported audio format: mp3',
    'Opus decoding failed: corrupted stream',
  ])('a job that fails with "%s" is not retried', async (message) => {
    const { app, nodes } = await startPair([() => failure(message), () => failure(message)]);
    const job = await app.settled((await app.dispatch()).job_id);
    expect(job.result).toMatchObject({ success: false, error: { message } });
    expect(nodes.map((node) => node.jobs.length).sort()).toEqual([0, 1]);
  });

  it('a silent node fails the job at its timeout without a retry', async () => {
    const { app, nodes } = await startPair([SILENT, SILENT], SHORT_TIMES);
    const job = await app.settled((await app.dispatch()).job_id);
    expect(job.result).toMatchObject({ success: false, error: { code: 'JOB_TIMEOUT' } });
    expect(nodesOf(job)).toHaveLength(1);
    expect(nodes.map((node) => node.jobs.length).sort()).toEqual([0, 1]);
    expect(nodes.every((node) => node.isOpen())).toBe(true);
  });

  it('the job moves immediately when its node disconnects', async () => {
    const { app, nodes } = await startPair([SILENT, SILENT]);
    const { job_id, node_id } = await app.dispatch();
    const first = nodes[indexOf(node_id)];
    const second = nodes[1 - indexOf(node_id)];
    await first?.job();
    first?.drop();
    const job = await second?.job();
    expect(job).toMatchObject({ job_id, attempt_id: 2 });
    if (job) second?.reply(job, TRANSLATED);
    expect((await app.settled(job_id)).timeline).toContainEqual(
      expect.objectContaining({ state: 'RETRYING', reason: 'WS_DISCONNECTED' }),
    );
  });

  it('a job that lost two nodes is not retried', async () => {
    const { app, nodes } = await startPair([1, 2, 3].map(() => (_job, node) => void node.drop()));
    const job = await app.settled((await app.dispatch()).job_id);
    expect(job.result).toMatchObject({ success: false, error: { code: 'NODE_UNAVAILABLE' } });
    expect(nodes.map((node) => node.jobs.length).sort()).toEqual([0, 1, 1]);
  });

  it('timings are built from processing_time_ms', async () => {
    const { app } = await startPair([undefined]);
    const job = await app.settled((await app.dispatch()).job_id);
    expect(job.result).toMatchObject({ processing_time_ms: 12 });
  });
});

const indexOf = (nodeId: string): number => Number(nodeId.replace('node-', ''));
