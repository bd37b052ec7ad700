/** People who watch the live feed cost little and do not slow dispatch down. Taking turns on one scheduler. */
import { get } from 'node:http';
import { createHistory } from '../../packages/scheduler/dist/management/stats/history.js';
import { createNodeRows } from '../../packages/scheduler/dist/transport/http/watch/node-rows.js';
import { paceDispatch, startBesideServer, startNodes } from './beside-rig.ts';
import { createEmbeddedEngine } from './embedded-engine.ts';
import { type Figure, median, memoryBytes } from './measure.ts';
import { logLine } from './show.ts';

export interface LiveOptions {
  readonly rounds: number;
  readonly roundMs: number;
  readonly idleNodes: number;
  readonly viewers: number;
  /** Jobs per second. */
  readonly rate: number;
}

/** Reads the feed and drops it, until the returned function is called. */
function startViewer(port: number): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const request = get(`http://127.0.0.1:${port}/api/v1/live`, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the feed answers ${response.statusCode}`));
      response.resume();
      resolve(() => request.destroy());
    });
    request.on('error', reject);
  });
}

export async function live({ rounds, roundMs, idleNodes, viewers, rate }: LiveOptions): Promise<Figure[]> {
  const server = await startBesideServer(idleNodes);
  const stopNodes = await startNodes(server.port);
  const ratios: number[] = [];
  const onePercent: number[] = [];
  const allPercent: number[] = [];

  /** CPU time of the scheduler in percent of one core, and the p99 of dispatch, while so many watch. */
  async function measure(watching: number): Promise<{ percent: number; p99: number }> {
    const leave: (() => void)[] = [];
    while (leave.length < watching) leave.push(await startViewer(server.port));
    const begunAt = performance.now();
    const begun = await server.cpuMicros();
    const paced = await paceDispatch(server.port, rate, roundMs);
    const micros = (await server.cpuMicros()) - begun;
    const percent = micros / 10 / (performance.now() - begunAt);
    for (const each of leave) each();
    if (paced.errors > 0)
      throw new Error(`${paced.errors} of ${paced.requests} requests failed: is the machine busy?`);
    return { percent, p99: paced.p99 };
  }

  for (let round = 0; round <= rounds; round += 1) {
    logLine(round === 0 ? 'live: warming up' : `live: round ${round} of ${rounds}`);
    const none = await measure(0);
    const one = await measure(1);
    const all = await measure(viewers);
    if (round === 0) continue;
    onePercent.push(one.percent - none.percent);
    allPercent.push(all.percent - none.percent);
    ratios.push(all.p99 / none.p99);
  }
  await stopNodes();
  await server.stop();
  const load = `${rate.toLocaleString('en-US')} jobs/s, ${idleNodes.toLocaleString('en-US')} nodes`;
  const rows: Omit<Figure, 'scenario'>[] = [
    {
      name: `CPU for one viewer of the live feed, ${load}`,
      value: median(onePercent),
      unit: '% of a core',
      target: { atMost: 1 },
    },
    {
      name: `CPU for ${viewers} viewers of the live feed, ${load}`,
      value: median(allPercent),
      unit: '% of a core',
      target: { atMost: 10 },
    },
    {
      name: `dispatch p99 with ${viewers} viewers ÷ without`,
      value: median(ratios),
      unit: '×',
      target: { atMost: 1.1 },
    },
    {
      name: 'memory of the last hour and of the rows of 10,000 nodes',
      value: (await keptBytes()) / 1_024 ** 2,
      unit: 'MB',
      target: { atMost: 32 },
    },
  ];
  return rows.map((row) => ({ scenario: 'live', ...row }));
}

const NODES = 10_000;
const HOUR_SECONDS = 3_600;
const STAGES = ['wait', 'select', 'reserve', 'send', 'ack', 'run', 'deliver', 'total'];
const BUCKETS = 22;

/** What an instance keeps for the console: an hour of busy seconds, and the rows of all nodes while people watch. */
async function keptBytes(): Promise<number> {
  const engine = await createEmbeddedEngine(NODES, 4);
  const before = await memoryBytes();
  const history = createHistory();
  for (let second = 1; second <= HOUR_SECONDS; second += 1) {
    history.add('a', busySecond(second), second * 1_000);
    history.close(second * 1_000);
  }
  const origin = { instanceId: 'a', region: 'eu', zone: 'eu-1', version: '1.2.3', platform: 'linux' };
  const rows = createNodeRows({ fleet: engine.fleet, originOf: () => origin, poolName: String });
  for (const _ of rows.update()) {
    // Each step is one slice.
  }
  const bytes = (await memoryBytes()) - before;
  if (history.points(1).length !== HOUR_SECONDS) throw new Error('the history is not full');
  rows.clear();
  engine.stop();
  return bytes;
}

const busySecond = (second: number) => ({
  counts: { admitted: 1_000, finished: 990, failed: 5, cancelled: 1, retries: 3, takeovers: 0, reports: 1 },
  refused: { NO_CAPABLE_NODE: second, RATE_LIMITED: 2, ALL_CANDIDATES_FULL_OR_FAILED: 3 },
  stages: Object.fromEntries(
    STAGES.map((stage, at) => [
      stage,
      Array.from({ length: BUCKETS }, (_, bucket) => (bucket + at + second) % 9),
    ]),
  ),
  levels: { inFlight: 900, waiting: 3, oldestWaitMs: 120, sessions: 500, connected: 480 },
  failing: [],
});
