/**
 * How the first versions of this platform decided, as small as possible: a job looks at every node, and with every heartbeat the
 * whole state is copied through JSON for its readers. No leases, no retries, no timers, nothing kept: it does less than the engine,
 * and only its way of deciding is compared.
 */
import type { Registration } from '../../../packages/scheduler/dist/management/node-registry.js';
import type { Chance } from '../open-loop/chance.ts';

export interface NaiveNode {
  readonly registration: Registration;
  running: number;
  lastBeatAt: number;
}

export interface NaiveScheduler {
  /** The node with the fewest jobs among those that fit, at random among equals. */
  dispatch(jobId: string, source: string, target: string): string | undefined;
  finish(jobId: string): void;
  heartbeat(index: number): void;
  /** What dashboards and other readers see. */
  world(): readonly NaiveNode[];
  /** This many more jobs, distributed in turn. */
  occupy(jobs: number): void;
}

const TYPES = ['asr', 'nmt', 'tts', 'semantic'];
const STALE_MS = 45_000;

function fits({ registration, running, lastBeatAt }: NaiveNode, source: string, target: string, now: number) {
  const { report, slots = 0 } = registration;
  const { asr = [], semantic = [], tts = [], translations = [] } = report.languages ?? {};
  return (
    running < slots &&
    now - lastBeatAt < STALE_MS &&
    TYPES.every((type) => report.types?.some((each) => each.type === type && each.isReady)) &&
    asr.includes(source) &&
    semantic.includes(source) &&
    tts.includes(target) &&
    translations.some(({ languages }) => languages.includes(source) && languages.includes(target))
  );
}

export function createNaiveScheduler(
  registrations: readonly Registration[],
  clock: () => number,
  chance: Chance,
): NaiveScheduler {
  const nodes = registrations.map(
    (registration): NaiveNode => ({ registration, running: 0, lastBeatAt: clock() }),
  );
  const placed = new Map<string, NaiveNode>();
  const copy = (): NaiveNode[] => JSON.parse(JSON.stringify(nodes)) as NaiveNode[];
  let world = copy();
  return {
    dispatch(jobId, source, target) {
      const now = clock();
      let best: NaiveNode[] = [];
      for (const node of nodes) {
        if (!fits(node, source, target, now)) continue;
        const fewest = best[0]?.running ?? Number.POSITIVE_INFINITY;
        if (node.running < fewest) best = [node];
        else if (node.running === fewest) best.push(node);
      }
      const chosen = best[Math.floor(chance() * best.length)];
      if (chosen === undefined) return undefined;
      chosen.running += 1;
      placed.set(jobId, chosen);
      return chosen.registration.nodeId;
    },
    finish(jobId) {
      const node = placed.get(jobId);
      if (node !== undefined) node.running -= 1;
      placed.delete(jobId);
    },
    heartbeat(index) {
      const node = nodes[index];
      if (node !== undefined) node.lastBeatAt = clock();
      world = copy();
    },
    world: () => world,
    occupy(jobs) {
      for (let i = 0; i < jobs; i++) {
        const node = nodes[i % nodes.length];
        if (node !== undefined) node.running += 1;
      }
    },
  };
}
