/**
 * Runs in its own process, so that its CPU time is its own: the whole scheduler, with a fleet that is counted and gets no jobs of
 * the load. Arguments: idle nodes, then settings as key=value. Sends its parent the port, and its CPU time on request.
 */
import { createApp } from '../../packages/scheduler/dist/app/create-app.js';
import { benchConfig, registration } from './embedded-engine.ts';
import { QUIET } from './engine.ts';
import { cpuMicros } from './measure.ts';

const BEAT_MS = 10_000;
const ROOMY = [
  'server.port=0',
  'scheduler.fleet_warmup_ms=0',
  // A node here does the work of many.
  'server.limits.messages_per_second=100000',
  'server.limits.requests_per_second=1000000',
  'server.limits.requests_per_second_per_tenant=1000000',
];
/** They lack what the load requires. */
const OTHER_LANGUAGES = ['ja', 'ko'];

const [idle, ...settings] = process.argv.slice(2);
const app = createApp({ config: benchConfig([...ROOMY, ...settings]), log: QUIET });
const { port } = await app.start();

function idleNode(index: number) {
  const common = registration(`node-idle-${index}`, 4);
  const only = { asr: OTHER_LANGUAGES, tts: OTHER_LANGUAGES, semantic: OTHER_LANGUAGES };
  return {
    ...common,
    hardware: { cpuCores: 16, memoryGb: 64, gpusGb: [24] },
    report: { ...common.report, languages: only },
  };
}

const nodeIds: string[] = [];
for (let index = 0; index < Number(idle); index += 1) {
  const outcome = await app.registry.register(idleNode(index));
  if (outcome.kind === 'registered') nodeIds.push(outcome.nodeId);
}
async function beatAll(): Promise<void> {
  const resources = { cpuPercent: 20, gpuPercent: 30, memoryPercent: 40, runningJobs: 0 };
  for (const nodeId of nodeIds) await app.registry.heartbeat({ nodeId, resources });
}
await beatAll();
setInterval(() => void beatAll(), BEAT_MS).unref();

process.on('message', () => process.send?.({ cpuMicros: cpuMicros() }));
process.on('disconnect', () => process.exit(0));
process.send?.({ port });
