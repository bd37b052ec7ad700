/** Heartbeats that change only the load, from the bytes of the frame to the updated view. */
import { parseNodeMessage } from '@lingua/protocol';
import { toHeartbeat } from '../../packages/scheduler/dist/transport/ws/node-registration.js';
import { createEmbeddedEngine, request } from './embedded-engine.ts';
import { largestReports } from './largest-reports.ts';
import { cpuMicros, type Figure, median } from './measure.ts';
import { logLine } from './show.ts';

const INTERVAL_S = 5;

const frame = (nodeId: string, running: number): string =>
  JSON.stringify({
    type: 'node_heartbeat',
    node_id: nodeId,
    timestamp: Date.now(),
    resource_usage: {
      cpu_percent: 20 + running,
      gpu_percent: 30,
      gpu_mem_percent: 40,
      mem_percent: 50,
      running_jobs: running,
    },
    running_job_ids: [],
  });

export async function heartbeats(options: { nodes: number; rounds: number }): Promise<Figure[]> {
  logLine(`heartbeats: registering ${options.nodes} nodes`);
  const engine = await createEmbeddedEngine(options.nodes, 4);
  // Some selections have run, so that their cached answers exist and must be updated.
  for (let i = 0; i < 200; i++) await engine.jobs.dispatch(request());
  const before = engine.fleet.stats();
  const micros: number[] = [];
  for (let round = 0; round < options.rounds; round++) {
    logLine(`heartbeats: round ${round + 1} of ${options.rounds}`);
    const frames = Array.from({ length: options.nodes }, (_, i) => frame(`node-${i}`, (i + round) % 3));
    const start = cpuMicros();
    for (const text of frames) {
      const parsed = parseNodeMessage(text);
      if (parsed.kind !== 'message' || parsed.message.type !== 'node_heartbeat') throw new Error('bad frame');
      const beat = await engine.registry.heartbeat(
        toHeartbeat(parsed.message, engine.generations.get(parsed.message.node_id) ?? 0),
      );
      if (beat.kind !== 'beat') throw new Error(beat.kind);
    }
    micros.push((cpuMicros() - start) / options.nodes);
  }
  const after = engine.fleet.stats();
  engine.stop();
  const cost = median(micros);
  return [
    { scenario: 'heartbeats', name: 'CPU per heartbeat, frame to view', value: cost, unit: 'µs' },
    {
      scenario: 'heartbeats',
      name: `core used by ${options.nodes.toLocaleString('en-US')} nodes every ${INTERVAL_S} s`,
      value: (cost * options.nodes) / INTERVAL_S / 1e4,
      unit: '%',
      target: { atMost: 15 },
    },
    {
      scenario: 'heartbeats',
      name: 'rebuilds caused by all of them',
      value: after.rebuilds - before.rebuilds + after.changes - before.changes,
      unit: '',
      target: { atMost: 0 },
    },
    ...largestReports(),
  ];
}
