/** Worlds: how a run is divided, how results are merged, and that the number of threads changes nothing. */
import { describe, expect, it } from 'vitest';
import { runWorlds } from '../../src/simulate/run-worlds.ts';
import { joinReports, type WorldOrder, type WorldReport } from '../../src/simulate/world-report.ts';
import { cutIntoWorlds } from '../../src/simulate/worlds.ts';

describe('a run', () => {
  it('is one world while it is small, under its own seed', () => {
    expect(cutIntoWorlds('7', 50, 100)).toEqual([{ seed: '7', jobs: 50 }]);
    expect(cutIntoWorlds('7/2', 100, 100)).toEqual([{ seed: '7/2', jobs: 100 }]);
  });

  it('is divided into worlds of about the same size', () => {
    expect(cutIntoWorlds('7', 250, 100)).toEqual([
      { seed: '7/1', jobs: 83 },
      { seed: '7/2', jobs: 83 },
      { seed: '7/3', jobs: 84 },
    ]);
  });

  it('has the sum of the results of its worlds', () => {
    const run = joinReports([
      reportOf('a', { results: 3, 'longest from done to delivered, ms': 9 }),
      reportOf('b', { results: 4, 'longest from done to delivered, ms': 5 }),
    ]);
    expect(run).toMatchObject({
      jobs: 20,
      virtualMs: 2_000,
      faults: { node_cut: 2 },
      finding: {
        counts: { results: 7, 'longest from done to delivered, ms': 9 },
        judged: { 'I5 order': 12 },
        violations: [{ message: 'a' }, { message: 'b' }],
      },
    });
  });

  it('has a digest of all of its worlds, in their order', () => {
    const [a, b] = [reportOf('a', {}), reportOf('b', {})];
    expect(joinReports([a]).digest).toBe('a');
    const digests = [joinReports([a, b]), joinReports([b, a]), joinReports([a, a])].map((run) => run.digest);
    expect(new Set(digests).size).toBe(3);
  });
});

describe('threads', () => {
  it('return reports in the order of the requests', async () => {
    // The first waits until the second is done, and asks in case that message came before it listened.
    const worker = threadOf(`
      const channel = new BroadcastChannel('worlds');
      parentPort.on('message', ({ seed }) => {
        const say = () => parentPort.postMessage({ kind: 'lived', report: { digest: seed } });
        const isFirst = seed === 'first';
        channel.onmessage = ({ data }) => {
          if (isFirst && data === 'done') say();
          else if (!isFirst && data === 'done?') channel.postMessage('done');
        };
        if (!isFirst) say();
        channel.postMessage(isFirst ? 'done?' : 'done');
      });`);
    const digests: string[] = [];
    for await (const { digest } of runWorlds([orderOf('first'), orderOf('second')], { threads: 2, worker }))
      digests.push(digest);
    expect(digests).toEqual(['first', 'second']);
  });

  it('run one world after the other if there are fewer threads', async () => {
    const worker = threadOf(`
      let lived = 0;
      parentPort.on('message', ({ seed }) =>
        parentPort.postMessage({ kind: 'lived', report: { digest: seed + ++lived } }));`);
    const digests: string[] = [];
    for await (const { digest } of runWorlds(['a', 'b', 'c'].map(orderOf), { threads: 1, worker }))
      digests.push(digest);
    expect(digests).toEqual(['a1', 'b2', 'c3']);
  });

  it('report errors of worlds', async () => {
    const worker = threadOf(
      `parentPort.on('message', () => parentPort.postMessage({ kind: 'broke', fault: new Error('no such world') }));`,
    );
    const reports = runWorlds([orderOf('a')], { threads: 1, worker });
    await expect(reports.next()).rejects.toThrow('no such world');
    const silent = runWorlds([orderOf('a')], {
      threads: 1,
      worker: threadOf(`throw new Error('no such thread')`),
    });
    await expect(silent.next()).rejects.toThrow('no such thread');
  });
});

const threadOf = (code: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads'; ${code}`)}`,
  );

const orderOf = (seed: string): WorldOrder => ({ seed, jobs: 1, faults: [], scenario: {} });

const reportOf = (digest: string, counts: Record<string, number>): WorldReport => ({
  world: { seed: digest, jobs: 10 },
  jobs: 10,
  finding: {
    violations: [{ invariant: 'I5 order', at: 1, message: digest, about: [] }],
    counts,
    judged: { 'I5 order': 6 },
  },
  digest,
  faults: { node_cut: 1 },
  virtualMs: 1_000,
  simulatedMs: 1,
  judgedMs: 1,
  summary: '',
});
