/** A client that reads jobs of other tenants with its own credential, on every endpoint. It must see none of them (I10). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Recorder } from '../../../../packages/simulation/dist/history.js';
import type { Tenant } from '../tenants.ts';
import { type Backend, createBalancer } from '../wire/balancer.ts';
import { ask } from '../wire/call.ts';

export interface PeekerOptions {
  readonly tenant: Tenant;
  readonly recorder: Recorder;
  readonly chance: () => number;
  readonly perSecond: number;
  readonly backends: () => readonly Backend[];
}

export interface Peeker {
  /** Resolves when none of its requests is under way. */
  stop(): Promise<void>;
}

/** A result is read with its job; a client that may cancel a job receives its state. */
const WAYS = [
  { how: 'look', method: 'GET', path: (job: string) => `/v1/job/${job}` },
  { how: 'wait', method: 'GET', path: (job: string) => `/v1/job/${job}?wait_ms=1000` },
  { how: 'events', method: 'GET', path: (job: string) => `/v1/job/${job}/events` },
  { how: 'cancel', method: 'POST', path: (job: string) => `/v1/job/${job}/cancel`, body: {} },
] as const;

/** All of these jobs are still kept: a read of a removed job proves nothing. */
const MOST_HEARD_OF = 400;
const LONGEST_PAUSE_MS = 3_000;

export async function startPeeker(options: PeekerOptions): Promise<Peeker> {
  const { tenant, recorder, chance } = options;
  const client = `peeker-${tenant.name}`;
  const wire = await createBalancer({ backends: options.backends });
  const jobOfOthers = createKnownJobs(recorder, tenant, chance);
  let isCurious = true;
  let turn = 0;

  async function peek(job: string): Promise<void> {
    const { how, method, path, ...rest } = WAYS[turn++ % WAYS.length] ?? WAYS[0];
    const status = await ask(wire.port, method, path(job), { ...rest, token: tenant.clientToken }).catch(
      () => undefined,
    );
    // A read without an answer, or without access, has shown nothing and proves nothing.
    const didSee = status !== undefined && status >= 200 && status < 300;
    if (didSee || status === 404)
      recorder.record({ kind: 'peeked', client, tenant: tenant.name, job, how, didSee });
  }

  async function lookAround(): Promise<void> {
    while (isCurious) {
      await sleep(Math.min(LONGEST_PAUSE_MS, (-Math.log(1 - chance()) * 1_000) / options.perSecond));
      const job = isCurious ? jobOfOthers() : undefined;
      if (job !== undefined) await peek(job);
    }
  }

  const looking = lookAround();
  return {
    async stop() {
      isCurious = false;
      await looking;
      wire.close();
    },
  };
}

/** Returns the last accepted job of another tenant, or any of the latest: some run, some have results. */
function createKnownJobs({ history }: Recorder, { name: own }: Tenant, chance: () => number) {
  const tenantOf = new Map<string, string>();
  const jobs: string[] = [];
  let read = 0;
  return (): string | undefined => {
    for (; read < history.length; read += 1) {
      const each = history[read];
      if (each?.kind === 'asked' && each.tenant !== undefined) tenantOf.set(each.client, each.tenant);
      if (each?.kind !== 'accepted' || each.job === undefined) continue;
      const tenant = tenantOf.get(each.client);
      if (tenant !== undefined && tenant !== own) jobs.push(each.job);
    }
    jobs.splice(0, jobs.length - MOST_HEARD_OF);
    return chance() < 0.5 ? jobs.at(-1) : jobs[Math.floor(chance() * jobs.length)];
  };
}
