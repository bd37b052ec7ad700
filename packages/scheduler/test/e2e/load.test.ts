/** A fleet with every simulated fault and more work than it can take: the invariants must hold. */
import type { DispatchReply, JobView } from '@lingua/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/adapters/system/log.ts';
import { createApp } from '../../src/app/create-app.ts';
import { type Behaviour, HEALTHY } from '../../src/cli/simulated-node/behaviour.ts';
import { createSimulatedFleet, spread } from '../../src/cli/simulated-node/simulated-fleet.ts';
import { eventually } from '../support/eventually.ts';
import { AUDIO, configOf, createClient } from './support/start-app.ts';
import { createTappedWire, type TappedWire } from './support/tapped-wire.ts';

const NODES = 20;
const SLOTS = 2;
const JOBS = 500;
/** Twice the capacity of the fleet. */
const AT_ONCE = 80;

const QUICK: Behaviour = { ...HEALTHY, latency: { kind: 'uniform', minMs: 20, maxMs: 100 }, ttsMs: 0 };
const MIX = [
  { share: 8, behaviour: QUICK },
  { share: 3, behaviour: { ...QUICK, isLegacy: true } },
  { share: 3, behaviour: { ...QUICK, failureRate: 0.2, duplicateRate: 0.2, overloadRate: 0.1 } },
  { share: 2, behaviour: { ...QUICK, ackSilenceRate: 0.1, modelNotAvailableRate: 0.1 } },
  // Late: after the job timeout, and before the end of the lease that the fenced attempt keeps.
  { share: 2, behaviour: { ...QUICK, silenceRate: 0.05, lateRate: 0.05, lateMs: 4_200 } },
  { share: 2, behaviour: { ...QUICK, crashAfterJobs: 10, restartAfterMs: 300 } },
];

const SETTINGS = {
  'scheduler.heartbeat_interval_seconds': 0.5,
  'scheduler.reserve_timeout_ms': 600,
  'scheduler.cluster.redis.command_timeout_ms': 300,
  'scheduler.ack_timeout_ms': 2_100,
  'scheduler.reservation_ttl_ms': 3_000,
  'scheduler.job_timeout_seconds': 3.6,
  'scheduler.job_deadline_ms': 60_000,
  'scheduler.node_health.heartbeat_interval_seconds': 0.5,
  'scheduler.legacy_node_slots': SLOTS,
  'scheduler.ejection.base_ms': 300,
  'scheduler.selection.policy': 'least_loaded',
};

/** The legacy nodes of the fleet: behaviours are assigned in a fixed order. */
const LEGACY = new Set(
  spread(MIX, NODES).flatMap(({ isLegacy }, index) => (isLegacy ? [`node-sim-${index + 1}`] : [])),
);

interface Run {
  readonly accepted: readonly {
    readonly requestId: string;
    readonly replies: readonly DispatchReply[];
    /** All that its calls were given. */
    readonly jobs: readonly JobView[];
  }[];
  readonly refused: readonly string[];
  readonly jobs: readonly JobView[];
  readonly wire: TappedWire;
  readonly crashes: number;
  readonly usedAtTheEnd: readonly number[];
  readonly inFlightAtTheEnd: number;
}

async function runLoad(): Promise<Run> {
  const app = createApp({ config: configOf(SETTINGS), log: createLog('silent') });
  const { port } = await app.start();
  const wire = await createTappedWire(`ws://127.0.0.1:${port}/ws/node`);
  const fleet = createSimulatedFleet({
    url: wire.url,
    count: NODES,
    slots: SLOTS,
    languages: ['en', 'zh'],
    mix: MIX,
    seed: 7,
    nodeIdPrefix: 'node-sim',
  });
  await fleet.start();
  const client = createClient(`http://127.0.0.1:${port}`);
  await client.readyNodes(NODES);

  const accepted: Run['accepted'][number][] = [];
  const refused: string[] = [];
  const jobs: JobView[] = [];

  async function work(number: number): Promise<void> {
    const requestId = `req-${number}`;
    const body = {
      session_id: `room-${number % 40}`,
      src_lang: number % 2 === 0 ? 'en' : 'zh',
      tgt_lang: number % 2 === 0 ? 'zh' : 'en',
      audio: AUDIO,
      request_id: requestId,
      wait_ms: 60_000,
    };
    // Every tenth caller sends the same request twice.
    const calls = Array.from({ length: number % 10 === 0 ? 2 : 1 }, () =>
      client.post<DispatchReply & { error?: string }>('/v1/dispatch/f2f', body),
    );
    const answers = await Promise.all(calls);
    const replies = answers.filter(({ status }) => status === 200).map((answer) => answer.body);
    if (replies.length < answers.length) refused.push(...answers.map((answer) => answer.body.error ?? ''));
    if (replies[0] === undefined) return;
    const ids = new Set(replies.map(({ job_id }) => job_id));
    const settled = await Promise.all([...ids].map((jobId) => client.settled(jobId)));
    accepted.push({ requestId, replies, jobs: settled });
    jobs.push(...settled);
  }

  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < JOBS) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));

  const usedSlots = async () => (await client.nodes()).map((node) => node.used_slots);
  const usedAtTheEnd = await eventually(async () => {
    const used = await usedSlots();
    expect(used.filter((count) => count > 0)).toEqual([]);
    return used;
  }).catch(usedSlots);
  const run = {
    accepted,
    refused,
    // Read when all work has ended: a late second outcome would show.
    jobs: await Promise.all(jobs.map(({ job_id }) => client.job(job_id))),
    wire,
    crashes: fleet.counts().crashes,
    usedAtTheEnd,
    inFlightAtTheEnd: app.jobs.inFlight() + app.jobs.waiting(),
  };
  await fleet.stop();
  wire.close();
  await app.stop();
  return run;
}

describe(`${JOBS} jobs on ${NODES} nodes of which most misbehave`, () => {
  let run: Run;
  beforeAll(async () => {
    run = await runLoad();
  });

  it('I1: no node ever has more jobs than slots', () => {
    const busiest = [...run.wire.traffic.values()].filter(({ most }) => most >= SLOTS);
    expect(busiest.length).toBeGreaterThan(NODES / 2);
    for (const [nodeId, { overflows }] of run.wire.traffic) expect([nodeId, overflows]).toEqual([nodeId, 0]);
    // Legacy nodes queue excess jobs instead of refusing them, so the frames themselves are counted.
    const legacy = [...run.wire.traffic].filter(([nodeId]) => LEGACY.has(nodeId));
    expect(legacy).toHaveLength(3);
    for (const [nodeId, { most }] of legacy) expect([nodeId, most > SLOTS]).toEqual([nodeId, false]);
  });

  it('I2: no lease remains after all work has ended', () => {
    expect(run.usedAtTheEnd).toEqual(Array.from({ length: NODES }, () => 0));
    expect(run.inFlightAtTheEnd).toBe(0);
  });

  it('I3: every accepted job has exactly one outcome', () => {
    expect(run.jobs.length).toBeGreaterThanOrEqual(run.accepted.length);
    for (const { job_id, timeline, result } of run.jobs) {
      const outcomes = timeline.filter(({ state }) => state === 'FINISHED' || state === 'FAILED');
      expect([job_id, outcomes.length, result === undefined]).toEqual([job_id, 1, false]);
    }
  });

  it('I3: the same request twice is the same job, or another try after a failure', () => {
    const twice = run.accepted.filter(({ replies }) => replies.length > 1);
    expect(twice.length).toBeGreaterThan(0);
    for (const { requestId, jobs } of twice) {
      const failed = jobs.filter(({ result }) => result?.success === false);
      expect([requestId, jobs.length - failed.length <= 1]).toEqual([requestId, true]);
    }
  });

  it('most jobs succeed despite the faults', () => {
    expect(run.crashes).toBeGreaterThan(0);
    expect(run.refused).toEqual([]);
    const finished = run.jobs.filter(({ result }) => result?.success === true);
    expect(finished.length).toBeGreaterThan(JOBS / 2);
  });
});
