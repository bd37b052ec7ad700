/** A legacy node of the fleet: no acknowledgements, reconnects once and after five seconds, and gets its name from the scheduler. */
import type { JobAssign } from '@lingua/protocol';
import { type Balancer, createBalancer } from '../wire/balancer.ts';
import { type FleetNode, type FleetNodeOptions, languagesOf, onReceived } from './fleet-node.ts';
import { connectLegacyNode, type LegacyNode } from './legacy-node.ts';
import { type NodeProcess, startNodeProcess } from './node-process.ts';

const LOOK_MS = 250;
/** How long after its last connection the node is restarted, as an operator would do. */
const MOURNING_MS = 1_000;

export async function joinLegacyFleetNode(options: FleetNodeOptions): Promise<FleetNode> {
  let processes = 0;
  let nodeProcess: NodeProcess;
  let node: LegacyNode;
  let wire: Balancer;
  let looking: NodeJS.Timeout;
  let isStopped = false;

  async function start(): Promise<void> {
    processes += 1;
    // Another process is another node: it has lost its name, and the scheduler gives it a new one.
    const own = startNodeProcess({ ...options, name: `${options.name}.${processes}`, style: 'legacy' });
    nodeProcess = own;
    wire = await createBalancer({ backends: options.backends, onText: onReceived(() => own) });
    const connected = connectLegacyNode({
      url: `ws://127.0.0.1:${wire.port}/ws/node`,
      token: options.owner?.nodeToken,
      languages: languagesOf(options),
      onJob: (job) => void answer(own, job, connected),
    });
    node = connected;
    looking = setInterval(() => replaceIfGone(own), LOOK_MS);
    await connected.registered;
  }

  async function answer(own: NodeProcess, job: JobAssign, at: LegacyNode): Promise<void> {
    try {
      const output = await own.work({
        job: job.job_id,
        attempt: job.attempt_id,
        assign: job,
        audio: () => Promise.resolve(Buffer.from(job.audio, 'base64')),
      });
      at.reply(job, { success: true, ...output });
    } catch (error) {
      at.reply(job, { success: false, error: { code: 'PROCESSING_ERROR', message: String(error) } });
    }
  }

  function replaceIfGone(own: NodeProcess): void {
    if (own.isDead() || isStopped || !node.isGone()) return;
    end(own);
    setTimeout(() => {
      if (!isStopped) void start();
    }, MOURNING_MS);
  }

  function end(own: NodeProcess): void {
    clearInterval(looking);
    own.die();
    node.close();
    wire.close();
  }

  await start();
  return {
    name: options.name,
    cut: () => wire.cut(),
    delay: (ms) => wire.delay(ms),
    kill: () => end(nodeProcess),
    async restart() {
      // It may have been restarted already.
      if (nodeProcess.isDead()) await start();
    },
    stop() {
      isStopped = true;
      end(nodeProcess);
    },
  };
}
