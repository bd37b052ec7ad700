/** The engine on Redis with a null transport: bind, reserve, dispatch, acknowledge, finish, release. */
import type { Assignment } from '../../../packages/scheduler/dist/ports/node-link.js';
import { RESULT, registration, request } from '../embedded-engine.ts';
import type { Contestant } from './contestant.ts';
import { createRedisEngine, type RedisEngineOptions } from './redis-engine.ts';

const NODES = 20;
const SLOTS = 16;
const BEAT_MS = 10_000;

export async function createEngineContestant(
  options: Pick<RedisEngineOptions, 'port' | 'prefix' | 'instanceId' | 'limits'>,
): Promise<Contestant & { readonly engine: Awaited<ReturnType<typeof createRedisEngine>> }> {
  /** By request: the job's id is not known before it is sent. */
  const flying = new Map<string, { left: () => void; end: (fault?: Error) => void }>();

  /** As an idle node would: its reports arrive after the send has returned. */
  function onDelivery({ job, nodeId, attempt }: Assignment): void {
    const flight = flying.get(job.requestId ?? '');
    flight?.left();
    setImmediate(() => void answer({ jobId: job.jobId, nodeId, attempt }).then(flight?.end, flight?.end));
  }

  async function answer(about: { jobId: string; nodeId: string; attempt: number }): Promise<undefined> {
    const acknowledged = await engine.jobs.acknowledge(about);
    if (acknowledged.kind !== 'accepted') throw new Error(`acknowledgement ${acknowledged.reason}`);
    const finished = await engine.jobs.finish(about, RESULT);
    if (finished.kind !== 'accepted') throw new Error(`result ${finished.reason}`);
  }

  const engine = await createRedisEngine({ ...options, onDelivery });
  for (let i = 0; i < NODES; i++) await engine.register(registration(`node-${i}`, SLOTS));
  const beating = setInterval(() => void engine.beatAll(), BEAT_MS);

  return {
    engine,
    async run(left = () => {}) {
      const dispatchRequest = request();
      const requestId = dispatchRequest.requestId ?? '';
      const ended = new Promise<void>((resolve, reject) => {
        flying.set(requestId, { left, end: (fault) => (fault === undefined ? resolve() : reject(fault)) });
      });
      const outcome = await engine.jobs.dispatch(dispatchRequest);
      if (outcome.kind !== 'dispatched') throw new Error(outcome.message);
      await ended;
      flying.delete(requestId);
    },
    tidy: () => engine.settle(),
    otherCpuMicros: async () => 0,
    async stop() {
      clearInterval(beating);
      await engine.stop();
    },
  };
}
