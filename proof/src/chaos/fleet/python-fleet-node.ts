/** A node of the fleet that uses the Python SDK, as a process of its own: it dies by SIGKILL. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JobAssign } from '@lingua/protocol';
import { simulatedCapabilities } from '../../../../packages/scheduler/dist/cli/simulated-node/simulated-capabilities.js';
import { createBalancer } from '../wire/balancer.ts';
import { type FleetNode, type FleetNodeOptions, languagesOf, onReceived } from './fleet-node.ts';
import { type NodeProcess, startNodeProcess } from './node-process.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The same from the sources and from the built files. */
const PROGRAM = pathOf('../../../src/chaos/fleet/fleet_node.py');
const SDK = pathOf('../../../../packages/python/src');
/** Debian's Python has Debian's packages. */
const PYTHON = process.env.LINGUA_PYTHON ?? '/usr/bin/python3';
const env = { ...process.env, PYTHONPATH: SDK, PYTHONDONTWRITEBYTECODE: '1' };
const STOP_MS = 5_000;

/** Undefined: this machine can run such nodes. */
export function whyNoPython(): string | undefined {
  const { status } = spawnSync(PYTHON, ['-c', 'import lingua_node'], { env, stdio: 'ignore' });
  return status === 0
    ? undefined
    : `${PYTHON} with the package websockets is missing (Debian: python3-websockets)`;
}

interface Heard {
  readonly event: 'registered' | 'job' | 'audio' | 'cancelled' | 'refused';
  readonly job_id: string;
  readonly attempt_id: number;
  /** Of a job. */
  readonly assign?: JobAssign;
  readonly running: number;
  readonly audio?: string;
  readonly error?: string;
}

interface PendingJob {
  readonly controller: AbortController;
  readonly onAudio: (heard: Heard) => void;
}

export async function joinPythonFleetNode(options: FleetNodeOptions): Promise<FleetNode> {
  const { name, slots } = options;
  let nodeProcess: NodeProcess;
  let child: ChildProcess;
  const balancer = await createBalancer({
    backends: options.backends,
    onText: onReceived(() => nodeProcess),
  });

  function start(): Promise<void> {
    const own = startNodeProcess({ ...options, style: 'python', acknowledges: true });
    nodeProcess = own;
    const config = {
      url: `ws://127.0.0.1:${balancer.port}/ws/node`,
      token: options.owner?.nodeToken,
      name,
      slots,
      capabilities: simulatedCapabilities(languagesOf(options), false),
    };
    const started = spawn(PYTHON, [PROGRAM], {
      env: { ...env, LINGUA_FLEET_NODE: JSON.stringify(config) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child = started;
    started.stdin.on('error', () => {});
    const jobs = new Map<string, PendingJob>();
    const isRegistered = new Promise<void>((resolve, reject) => {
      started.once('exit', (code) => {
        if (own.isDead()) resolve();
        else reject(new Error(`${name} ended with ${code} before it was registered`));
      });
      createInterface({ input: started.stdout }).on('line', (line) => {
        const heard = JSON.parse(line) as Heard;
        if (own.isDead()) return;
        if (heard.event === 'registered') resolve();
        else if (heard.event === 'job') void work(own, started, jobs, heard);
        else if (heard.event === 'audio') jobs.get(heard.job_id)?.onAudio(heard);
        else if (heard.event === 'cancelled') jobs.get(heard.job_id)?.controller.abort();
        else if (heard.running >= slots) own.turnedAway(heard.job_id, heard.attempt_id);
      });
    });
    return isRegistered;
  }

  await start();
  return {
    name,
    cut: balancer.cut,
    delay: balancer.delay,
    kill() {
      nodeProcess.die();
      child.kill('SIGKILL');
    },
    restart: start,
    async stop() {
      await end(child);
      balancer.close();
    },
  };
}

/** The Python handler waits for the answer, also if its job was cancelled. */
async function work(
  own: NodeProcess,
  { stdin }: ChildProcess,
  jobs: Map<string, PendingJob>,
  { job_id: job, attempt_id: attempt, assign }: Heard,
): Promise<void> {
  const controller = new AbortController();
  const audio = new Promise<Buffer>((resolve, reject) => {
    const onAudio = ({ audio: bytes, error }: Heard): void =>
      bytes === undefined ? reject(new Error(error)) : resolve(Buffer.from(bytes, 'base64'));
    jobs.set(job, { controller, onAudio });
    controller.signal.addEventListener('abort', () => reject(new Error('cancelled')));
  });
  const done = own.work({
    job,
    attempt,
    assign: assign as JobAssign,
    audio: () => audio,
    signal: controller.signal,
  });
  own.acknowledged(job, attempt);
  const outcome = await done.then(
    (output) => ({ output }),
    (error: unknown) => ({ error: String(error) }),
  );
  jobs.delete(job);
  stdin?.write(`${JSON.stringify({ job_id: job, ...outcome })}\n`);
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.stdin?.end();
  });
}
