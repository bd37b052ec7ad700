/** With the policy `fastest` the engine learns from its jobs which nodes are slow. */
import { describe, expect, it } from 'vitest';
import { createRig, RESULT, type Rig } from '../rigs/rig.ts';

const policy = { settings: { policy: 'fastest' } } as const;
const NODES = ['node-a', 'node-b'];

async function rigWithTwoNodes(settings: object = policy.settings): Promise<Rig> {
  const rig = createRig({ settings });
  for (const nodeId of NODES) await rig.addNode(nodeId, 4);
  return rig;
}

/** Runs one job; `took` says how long each node needs. */
async function work(rig: Rig, took: Readonly<Record<string, number>>): Promise<string> {
  const job = await rig.dispatch();
  const attempt = rig.last(job.jobId);
  await rig.service.acknowledge(attempt);
  await rig.clock.advance(took[attempt.nodeId] ?? 100);
  await rig.service.finish(attempt, RESULT);
  return attempt.nodeId;
}

/** Both nodes are tried, then twenty jobs show the preference. */
async function favourite(rig: Rig, took: Readonly<Record<string, number>>): Promise<Record<string, number>> {
  for (let job = 0; job < 20; job++) await work(rig, took);
  const counts: Record<string, number> = {};
  for (let job = 0; job < 20; job++) {
    const nodeId = await work(rig, took);
    counts[nodeId] = (counts[nodeId] ?? 0) + 1;
  }
  return counts;
}

describe('the policy fastest', () => {
  it('gives the jobs to the node that finishes them sooner', async () => {
    const counts = await favourite(await rigWithTwoNodes(), { 'node-a': 100, 'node-b': 900 });
    expect(counts['node-a']).toBeGreaterThan(17);
  });

  it('learns from a job that the node did not end in time', async () => {
    const rig = await rigWithTwoNodes({ ...policy.settings, maxRetry: 0 });
    for (let job = 0; job < 20; job++) await work(rig, {});
    const lost = await rig.dispatch();
    const { nodeId } = rig.last(lost.jobId);
    await rig.service.acknowledge(rig.last(lost.jobId));
    await rig.clock.advance(60_000);
    expect((await rig.service.cancel(lost.jobId, 'too late')).kind).toBe('settled');
    for (let job = 0; job < 20; job++) expect(await work(rig, {})).not.toBe(nodeId);
  });
});

describe('the default policy', () => {
  it('knows no speeds', async () => {
    const counts = await favourite(await rigWithTwoNodes({}), { 'node-a': 100, 'node-b': 900 });
    expect(counts['node-b']).toBeGreaterThan(2);
  });
});
