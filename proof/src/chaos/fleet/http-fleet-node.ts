/** A node of the fleet without a socket: it polls, or has an endpoint. Each of its calls may reach another instance. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobAssign } from '@lingua/protocol';
import { type Balancer, createBalancer } from '../wire/balancer.ts';
import { call } from '../wire/call.ts';
import { type FleetNode, type FleetNodeOptions, languagesOf } from './fleet-node.ts';
import { type NodeProcess, startNodeProcess } from './node-process.ts';

const POLL_MS = 2_000;
const BEAT_MS = 3_000;
const AGAIN_MS = 200;
/** It repeats a result for this long; later the result is of no use. */
const TELL_MS = 20_000;

export async function joinHttpFleetNode(
  options: FleetNodeOptions & { readonly way: 'poll' | 'endpoint' },
): Promise<FleetNode> {
  const { name, slots, way } = options;
  const token = options.owner?.nodeToken;
  const wire: Balancer = await createBalancer({ backends: options.backends });
  let nodeProcess: NodeProcess;
  let endpoint: Server | undefined;

  const post = (path: string, body: Record<string, unknown>) =>
    call(wire.port, 'POST', path, { body: { node_id: name, ...body }, token });

  async function start(): Promise<void> {
    const own = startNodeProcess({ ...options, style: way });
    nodeProcess = own;
    if (way === 'endpoint') endpoint = await openEndpoint(own);
    await register(own);
    void beat(own);
    if (way === 'poll') void poll(own);
  }

  async function register(own: NodeProcess): Promise<void> {
    // Read at each try: the jobs that it runs at that time.
    const body = () => ({
      health: 'ready',
      semantic_langs: languagesOf(options),
      tts_langs: languagesOf(options),
      max_concurrent_jobs: slots,
      running_job_ids: own.running(),
      ...(endpoint !== undefined && {
        endpoint: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/jobs`,
      }),
    });
    await insist(own, async () => (await post('/v1/node/register', body())).status === 200);
  }

  async function beat(own: NodeProcess): Promise<void> {
    while (!own.isDead()) {
      await sleep(BEAT_MS);
      const ids = own.running();
      const load = { current_load: { gpu: 0.1, cpu: 0.1 }, running_jobs: ids.length, running_job_ids: ids };
      const { status } = await post('/v1/node/heartbeat', { health: 'ready', ...load }).catch(() => NO_NODE);
      if (status === 404 && !own.isDead()) await register(own);
    }
  }

  async function poll(own: NodeProcess): Promise<void> {
    while (!own.isDead()) {
      const path = `/v1/node/${name}/jobs?wait_ms=${POLL_MS}`;
      const fetched = await call<{ jobs?: JobAssign[] }>(wire.port, 'GET', path, { token }).catch(
        () => NO_NODE,
      );
      if (own.isDead()) return;
      for (const job of fetched.body?.jobs ?? []) take(own, job);
      if (fetched.status === 404) await register(own);
      else if (fetched.status !== 200) await sleep(AGAIN_MS);
    }
  }

  function take(own: NodeProcess, job: JobAssign): void {
    own.assigned(job.job_id, job.attempt_id);
    void perform(own, job);
  }

  async function perform(own: NodeProcess, job: JobAssign): Promise<void> {
    const about = { job_id: job.job_id, attempt_id: job.attempt_id };
    void insist(own, async () => (await post('/v1/job/ack', about)).status === 200);
    try {
      const output = await own.work({ ...idsOf(job), assign: job, audio: () => audioOf(job) });
      await insist(own, async () => (await post('/v1/job/done', { ...about, ...output })).status === 200);
    } catch (error) {
      const failed = { ...about, reason: 'PROCESSING_ERROR', message: String(error) };
      await insist(own, async () => (await post('/v1/job/fail', failed)).status === 200);
    }
  }

  function openEndpoint(own: NodeProcess): Promise<Server> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        if (own.isDead()) {
          response.destroy();
          return;
        }
        take(own, JSON.parse(Buffer.concat(parts).toString()) as JobAssign);
        response.writeHead(200).end();
      });
    });
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
  }

  function end(): void {
    nodeProcess.die();
    endpoint?.closeAllConnections();
    endpoint?.close();
  }

  await start();
  return {
    name,
    cut: wire.cut,
    delay: wire.delay,
    kill: end,
    restart: start,
    stop() {
      end();
      wire.close();
    },
  };
}

const NO_NODE = { status: 0, body: undefined };

/** Until it is done or of no more use; if one instance could not answer, another may. */
async function insist(own: NodeProcess, tryOnce: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + TELL_MS;
  while (!own.isDead() && performance.now() < until) {
    if (await tryOnce().catch(() => false)) return;
    await sleep(AGAIN_MS);
  }
}

const idsOf = ({ job_id: job, attempt_id: attempt }: JobAssign) => ({ job, attempt });

async function audioOf({ audio, audio_ref: ref }: JobAssign): Promise<Buffer> {
  if (ref === undefined) return Buffer.from(audio, 'base64');
  const fetched = await fetch(ref.url, {
    headers: { authorization: `Bearer ${ref.token}` },
    signal: AbortSignal.timeout(3_000),
  });
  if (!fetched.ok) throw new Error(`the audio could not be fetched: ${fetched.status}`);
  return Buffer.from(await fetched.arrayBuffer());
}
