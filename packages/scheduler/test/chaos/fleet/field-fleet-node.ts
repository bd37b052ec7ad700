/** A node of the fleet as it is in the field: no acknowledgements, comes back once and after five seconds, is told its name. */
import { type Assigned, connectFieldNode, type FieldNode, failure } from '../../e2e/support/field-node.ts';
import { eventually } from '../../support/eventually.ts';
import { type Balancer, createBalancer } from '../rig/balancer.ts';
import type { FleetNode, FleetNodeOptions } from './fleet-node.ts';
import { type Hands, raiseHands } from './hands.ts';

const RECONNECT_MS = 5_000;
const BEAT_MS = 5_000;
const LOOK_MS = 250;
/** How long after its last connection somebody notices that it will not come back, and starts it again. */
const MOURNING_MS = 1_000;

export async function joinFieldFleetNode(options: FleetNodeOptions): Promise<FleetNode> {
  let processes = 0;
  let hands: Hands;
  let node: FieldNode;
  let wire: Balancer;
  let timers: NodeJS.Timeout[] = [];
  let isStopped = false;

  async function start(): Promise<void> {
    processes += 1;
    // Another process is another node: it has forgotten its name, and the scheduler gives it a new one.
    const own = raiseHands({ ...options, name: `${options.name}.${processes}`, style: 'field' });
    hands = own;
    wire = await createBalancer({
      backends: options.backends,
      onText(text, instance) {
        if (!text.includes('"job_')) return;
        const frame = JSON.parse(text) as { type: string; job_id: string; attempt_id: number };
        if (frame.type === 'job_assign') own.assigned(frame.job_id, frame.attempt_id, instance);
        else if (frame.type === 'job_cancel') own.cancelTold(frame.job_id);
      },
    });
    const connected = connectFieldNode({
      url: `ws://127.0.0.1:${wire.port}/ws/node`,
      reconnectMs: RECONNECT_MS,
      answer: (job) => {
        void answer(own, job, connected);
        return undefined;
      },
    });
    node = connected;
    timers = [setInterval(() => connected.beat(), BEAT_MS), setInterval(() => replaceIfGone(own), LOOK_MS)];
    await eventually(() => connected.connections() > 0, { withinMs: 20_000 });
  }

  async function answer(own: Hands, job: Assigned, at: FieldNode): Promise<void> {
    try {
      const output = await own.work({
        job: job.job_id,
        attempt: job.attempt_id,
        audio: () => Promise.resolve(Buffer.from(job.audio, 'base64')),
      });
      at.reply(job, { success: true, ...output, tts_audio: '', tts_format: '' });
    } catch (error) {
      at.reply(job, failure(String(error)));
    }
  }

  /** It came back once, and will not again. */
  function replaceIfGone(own: Hands): void {
    if (own.isDead() || isStopped || node.connections() < 2 || node.isOpen()) return;
    end(own);
    setTimeout(() => {
      if (!isStopped) void start().catch(() => {});
    }, MOURNING_MS);
  }

  function end(own: Hands): void {
    for (const timer of timers) clearInterval(timer);
    own.die();
    wire.close();
  }

  await start();
  return {
    name: options.name,
    cut: () => wire.cut(),
    kill: () => end(hands),
    async restart() {
      if (hands.isDead()) await start();
    },
    stop() {
      isStopped = true;
      end(hands);
    },
  };
}
