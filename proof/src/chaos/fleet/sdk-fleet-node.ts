/** A node of the fleet that uses the SDK: acknowledges, always reconnects, keeps its results. */
import {
  createNode,
  type GpuNode,
  JobError,
  NODE_EXTENSIONS,
  type NodeCapabilities,
  SILENT_LOG,
} from '@lingua/sdk/node';
import { simulatedCapabilities } from '../../../../packages/scheduler/dist/cli/simulated-node/simulated-capabilities.js';
import { createBalancer } from '../wire/balancer.ts';
import { type FleetNode, type FleetNodeOptions, languagesOf, onReceived } from './fleet-node.ts';
import { type NodeProcess, startNodeProcess } from './node-process.ts';
import { type Message, withholdAcks } from './withhold-acks.ts';

/** The machine of the tests may be busier than a node may be. */
const CALM = { cpu_percent: 10, gpu_percent: 10, mem_percent: 10 };
const TIMINGS = { firstMs: 100, longestMs: 1_000, pingIntervalMs: 2_000 };

export async function joinSdkFleetNode(options: FleetNodeOptions): Promise<FleetNode> {
  const { name, slots, stages } = options;
  let nodeProcess: NodeProcess;
  let node: GpuNode;
  const balancer = await createBalancer({
    backends: options.backends,
    onText: onReceived(() => nodeProcess),
  });

  function start(): Promise<void> {
    const own = startNodeProcess({ ...options, style: 'sdk', acknowledges: true });
    const withheld = withholdAcks(own, options.temper);
    nodeProcess = own;
    node = createNode({
      log: SILENT_LOG,
      url: `ws://127.0.0.1:${balancer.port}/ws/node`,
      token: options.owner?.nodeToken,
      nodeId: name,
      maxConcurrentJobs: slots,
      capabilities: capabilitiesOf(options),
      ...(stages !== undefined && { supports: [...NODE_EXTENSIONS, 'text_input'] }),
      resources: () => CALM,
      timings: TIMINGS,
      async onJob(job, { audio, signal }) {
        try {
          return await own.work({
            job: job.job_id,
            attempt: job.attempt_id,
            assign: job,
            audio,
            signal,
            isSleepy: withheld.isAsleep(job.job_id),
          });
        } catch (error) {
          throw error instanceof JobError ? error : new JobError('PROCESSING_ERROR', String(error));
        }
      },
      tamper(message) {
        watch(own, message);
        return withheld.pass(message);
      },
    });
    return node.start();
  }

  function watch(own: NodeProcess, message: Message): void {
    if (message.type !== 'job_result' || message.error?.code !== 'NODE_OVERLOADED') return;
    const { running } = Object(message.error.details) as { running?: number };
    if ((running ?? 0) >= slots) own.turnedAway(message.job_id, message.attempt_id);
  }

  await start();
  return {
    name,
    cut: balancer.cut,
    delay: balancer.delay,
    kill() {
      nodeProcess.die();
      node.kill();
    },
    restart: start,
    async stop() {
      await node.stop({ graceMs: 100 });
      balancer.close();
    },
  };
}

/** A pool is known by a language for semantic repair: every node declares that of its owner, whatever it can do. */
function capabilitiesOf(options: FleetNodeOptions): NodeCapabilities {
  const { owner, stages } = options;
  const able = simulatedCapabilities(languagesOf(options), false, stages);
  if (stages === undefined || stages.includes('semantic') || owner === undefined) return able;
  return {
    ...able,
    language_capabilities: { ...able.language_capabilities, semantic_languages: [owner.language] },
  };
}
