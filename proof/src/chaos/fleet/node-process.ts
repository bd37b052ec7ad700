/** One process of a node: the jobs it was given, runs, and has finished. Everything is recorded. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobAssign } from '@lingua/protocol';
import type { Recorder, Run } from '../../../../packages/simulation/dist/history.js';
import { chainOf, perform, readStamped } from '../../../../packages/simulation/dist/stamped-text.js';
import type { Tenant } from '../tenants.ts';
import type { Brake } from './brake.ts';
import { hear } from './speech.ts';

export interface Temper {
  /** How long the next job takes. */
  workMs(): number;
  /** The next job fails. */
  isClumsy(): boolean;
  /** The next job is not acknowledged, and takes so long that another node gets it. */
  isSleepy(): boolean;
}

/** Most jobs are short; some are long enough for a fault to occur meanwhile. */
export function createTemper(chance: () => number): Temper {
  return {
    workMs() {
      const [kind, size] = [chance(), chance()];
      if (kind < 0.7) return 30 + size * 200;
      return kind < 0.95 ? 250 + size * 750 : 1_500 + size * 2_000;
    },
    isClumsy: () => chance() < 0.015,
    isSleepy: () => chance() < 0.01,
  };
}

/** Longer than a node may take to acknowledge, shorter than a reservation. */
const SLEEPY_MS = 3_800;

export interface Work {
  readonly job: string;
  readonly attempt: number;
  readonly assign: JobAssign;
  readonly audio: () => Promise<Buffer>;
  readonly signal?: AbortSignal;
  readonly isSleepy?: boolean;
}

export type Output = ReturnType<typeof perform>;

export interface NodeProcess {
  readonly name: string;
  assigned(job: string, attempt: number, instance?: string): void;
  /** Runs it. Rejects if it failed; never settles if the process died meanwhile. */
  work(work: Work): Promise<Output>;
  /** Acknowledges it. */
  acknowledged(job: string, attempt: number): void;
  turnedAway(job: string, attempt: number): void;
  cancelled(job: string): void;
  running(): string[];
  isDead(): boolean;
  die(): void;
}

export function startNodeProcess(options: {
  readonly name: string;
  readonly slots: number;
  readonly style: string;
  /** The node acknowledges jobs, and records that it did. */
  readonly acknowledges?: boolean;
  /** The strict pool it belongs to, if there are strict pools. */
  readonly owner?: Pick<Tenant, 'name'>;
  /** Absent: it takes whole jobs only. */
  readonly stages?: readonly string[] | undefined;
  readonly recorder: Recorder;
  readonly temper: Temper;
  /** Absent: nothing is ever held. */
  readonly brake?: Brake;
}): NodeProcess {
  const { name, recorder, temper, brake } = options;
  const { record } = recorder;
  const running = new Set<string>();
  let isDead = false;
  const pool = options.owner?.name;
  record({
    kind: 'node_up',
    node: name,
    slots: options.slots,
    style: options.style,
    ...(options.acknowledges === true && { acknowledges: true }),
    ...(pool !== undefined && { pool }),
    ...(options.stages !== undefined && { stages: options.stages.join('+') }),
  });

  /** A dead process records nothing and finishes nothing. */
  async function living<T>(value: Promise<T>): Promise<T> {
    try {
      return await value;
    } finally {
      if (isDead) await new Promise<never>(() => {});
    }
  }

  async function labour({ assign, audio, signal, isSleepy }: Work, run: Run): Promise<Output> {
    const text = assign.input_text ?? hear(await living(audio()));
    const chain = chainOf(assign);
    const { stages, from, to } = chain;
    record({
      kind: 'understood',
      ...run,
      words: readStamped(text).words,
      stages: stages.join('+'),
      from,
      to,
    });
    await living(sleep(isSleepy === true ? SLEEPY_MS : temper.workMs(), undefined, signal && { signal }));
    await living(Promise.resolve(brake?.passed()));
    if (temper.isClumsy()) throw new Error('the node is clumsy');
    return perform(text, chain, run);
  }

  return {
    name,
    assigned: (job, attempt, instance) =>
      record({ kind: 'assigned', node: name, job, attempt, ...(instance !== undefined && { instance }) }),
    acknowledged: (job, attempt) => record({ kind: 'acknowledged', node: name, job, attempt }),
    turnedAway: (job, attempt) => record({ kind: 'turned_away', node: name, job, attempt }),
    cancelled: (job) => record({ kind: 'cancel_received', node: name, job }),
    async work(work) {
      const run = { node: name, job: work.job, attempt: work.attempt };
      const end = (how: 'done' | 'failed' | 'cancelled'): void => {
        running.delete(work.job);
        record({ kind: 'ended', how, ...run });
      };
      record({ kind: 'started', ...run });
      running.add(work.job);
      try {
        const output = await labour(work, run);
        end('done');
        return output;
      } catch (error) {
        end(work.signal?.aborted === true ? 'cancelled' : 'failed');
        throw error;
      }
    },
    running: () => [...running],
    isDead: () => isDead,
    die() {
      if (isDead) return;
      isDead = true;
      running.clear();
      record({ kind: 'node_down', node: name });
    },
  };
}
