/** MODEL_NOT_AVAILABLE over two instances: the holder of a node marks it, and every instance keeps its jobs away. */
import { JobError } from '@lingua/sdk/node';
import { expect, it } from 'vitest';
import { simulatedCapabilities } from '../../../src/cli/simulated-node/simulated-capabilities.ts';
import { eventually } from '../../support/eventually.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { type Instance, startInstances } from './start-instances.ts';

const LACK = { service_id: 'simulated-nmt', service_version: '1.0.0', reason: 'not found' };

/** A node without a model, until the test gives it back. */
async function joinForgetful(at: Instance, nodeId: string) {
  const state = { lacks: true, isReady: true, jobs: 0 };
  await joinSdkNode({
    url: at.nodeUrl,
    nodeId,
    capabilities: () => {
      const said = simulatedCapabilities(['en', 'zh'], false);
      if (state.isReady) return said;
      const without = <T extends { type?: string }>(list: readonly T[] = []) =>
        list.filter(({ type }) => type !== 'nmt');
      return {
        ...said,
        installed_services: without(said.installed_services),
        capability_by_type: without(said.capability_by_type),
      };
    },
    onJob: async () => {
      state.jobs += 1;
      if (state.lacks) throw new JobError('MODEL_NOT_AVAILABLE', 'gone', LACK);
      return OUTPUT;
    },
  });
  return state;
}

async function figure(at: Instance, series: string): Promise<number> {
  const { body } = await at.get<string>('/metrics');
  const line = body.split('\n').find((one) => one.startsWith(`${series} `) || one.startsWith(`${series}{`));
  return Number(line?.split(' ').at(-1) ?? 0);
}

const QUICK = {
  'scheduler.node_health.heartbeat_interval_seconds': 1,
  'scheduler.pending_timeout_ms': 2_000,
};

it('MODEL_NOT_AVAILABLE keeps jobs of both instances away until a probe succeeds', async () => {
  const { instances } = await startInstances(2, QUICK);
  const [a, b] = instances as [Instance, Instance];
  const node = await joinForgetful(a, 'node-a');
  await b.readyNodes(1);

  // B drives the job, A holds the node.
  const failed = await b.dispatch();
  expect(await b.settled(failed.job_id)).toMatchObject({
    result: { error: { code: 'MODEL_NOT_AVAILABLE' } },
  });
  await eventually(async () => (await figure(a, 'scheduler_model_na_marked_total')) === 1);
  expect(await figure(b, 'scheduler_model_na_received_total')).toBe(1);
  expect(await figure(a, 'scheduler_model_na_received_total')).toBe(0);

  // The mark reaches B with the node record.
  for (const each of [a, b])
    await eventually(async () => {
      const { status, body } = await each.tryDispatch();
      expect(status).toBe(503);
      expect(JSON.stringify(body)).toContain('left out for having reported a missing model: simulated-nmt');
      return true;
    });
  expect((await b.nodes())[0]).toMatchObject({ unavailable_services: ['simulated-nmt'] });
  const tried = node.jobs;
  for (let round = 0; round < 5; round += 1) expect((await b.tryDispatch()).status).toBe(503);
  expect(node.jobs).toBe(tried);
  expect(await figure(b, 'scheduler_model_na_last_candidate_total')).toBeGreaterThan(4);
  expect(
    await figure(b, 'scheduler_no_available_node_total{selector="types",reason="model_not_available"}'),
  ).toBeGreaterThan(4);

  // The node loses the model and reports it again: one job tries it.
  node.isReady = false;
  await eventually(async () => (await b.nodes())[0]?.ready_types?.includes('nmt') === false);
  node.lacks = false;
  node.isReady = true;
  const job = await eventually(async () => {
    const { status, body } = await b.tryDispatch();
    return status === 200 ? body : undefined;
  });
  expect(await b.settled(job.job_id)).toMatchObject({ result: { text_translated: OUTPUT.text_translated } });
  await eventually(
    async () => (await figure(a, 'scheduler_model_na_probes_total{result="succeeded"}')) === 1,
  );
  await eventually(async () => (await figure(a, 'scheduler_model_na_marks')) === 0);
});

it('MODEL_NOT_AVAILABLE: a node of another instance does the failed job', async () => {
  const { instances } = await startInstances(2, QUICK);
  const [a, b] = instances as [Instance, Instance];
  const node = await joinForgetful(a, 'node-a');
  await b.readyNodes(1);
  await joinSdkNode({ url: b.nodeUrl, nodeId: 'node-b', onJob: async () => OUTPUT });
  for (const each of [a, b]) await each.readyNodes(2);
  for (let round = 0; round < 10; round += 1) {
    const job = await (round % 2 === 0 ? a : b).dispatch();
    const done = await a.settled(job.job_id);
    expect(done).toMatchObject({ result: { text_translated: OUTPUT.text_translated } });
    if (node.jobs > 0) break;
  }
  expect(node.jobs).toBeGreaterThan(0);
  await eventually(async () => (await figure(a, 'scheduler_model_na_marks')) === 1);
});

it('MODEL_NOT_AVAILABLE: two instances report a missing version once', async () => {
  const { instances } = await startInstances(2, QUICK);
  const [a, b] = instances as [Instance, Instance];
  await joinForgetful(a, 'node-a');
  await joinForgetful(b, 'node-b');
  for (const each of [a, b]) await each.readyNodes(2);
  await a.settled((await a.dispatch()).job_id);
  for (const each of [a, b])
    await eventually(async () => (await figure(each, 'scheduler_model_na_marked_total')) === 1);
  const debounced = async () =>
    (await figure(a, 'scheduler_model_na_debounced_total')) +
    (await figure(b, 'scheduler_model_na_debounced_total'));
  await eventually(async () => (await debounced()) === 1);
  const said = [...a.log, ...b.log].filter((line) => line.includes('"a node lacks a model"'));
  expect(said).toHaveLength(1);
});
