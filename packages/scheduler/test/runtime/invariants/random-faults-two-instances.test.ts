/**
 * The invariants under random histories of two instances that take jobs over from one another. CHAOS_SEEDS plays more of them,
 * CHAOS_FIRST_SEED others: a failure names its seed, and its acts for when the generator has changed.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { problemsOf } from '../rigs/job-problems.ts';
import { NODES } from '../rigs/random-history.ts';
import {
  anySharedActs,
  playShared,
  type SharedHistory,
  type SharedMode,
} from '../rigs/random-history-two-instances.ts';

const SEEDS = Number(process.env.CHAOS_SEEDS ?? 40);
const FIRST_SEED = Number(process.env.CHAOS_FIRST_SEED ?? 1);

const MODES: Readonly<Record<string, SharedMode>> = {
  'instant, and an instance that loses its jobs is notified': {
    maxDelayMs: 0,
    failRate: 0,
    isNotified: true,
  },
  instant: { maxDelayMs: 0, failRate: 0, isNotified: false },
  slow: { maxDelayMs: 30, failRate: 0, isNotified: false },
  'very slow': { maxDelayMs: 800, failRate: 0, isNotified: false },
  failing: { maxDelayMs: 10, failRate: 0.1, isNotified: false },
};

async function leftovers({ rigs, faults, oversold }: SharedHistory): Promise<string[]> {
  const [first] = rigs;
  const leased: string[] = [];
  for (const nodeId of NODES) if ((await first.used(nodeId)) !== 0) leased.push(nodeId);
  const sum = (count: (rig: (typeof rigs)[0]) => number): number =>
    rigs.reduce((all, rig) => all + count(rig), 0);
  const left = {
    'unexpected faults': faults.map(String),
    'I1 oversold': [...oversold],
    'I2 leases left': leased,
    'I2 flights left': sum(({ service }) => service.inFlight()),
    'waiters left': sum(({ service }) => service.waiting()),
    'audio left': sum(({ audio }) => audio.size()),
    'timers left': first.clock.pending(),
  };
  return Object.entries(left)
    .filter(([, what]) => (typeof what === 'number' ? what !== 0 : what.length > 0))
    .map(([name, what]) => `${name}: ${what}`);
}

async function check(history: SharedHistory): Promise<string[]> {
  const { jobs } = await history.rigs[0].store.list({ limit: 1_000 });
  const problems = [
    ...(await leftovers(history)),
    ...jobs.flatMap((job) => problemsOf(job, history.accepted.get(job.jobId) ?? 0)),
  ];
  const known = new Set(jobs.map(({ jobId }) => jobId));
  for (const outcome of history.outcomes) {
    if (outcome.kind !== 'dispatched') continue;
    if (!known.has(outcome.job.jobId)) problems.push('dispatched, but there is no record');
    if (!outcome.isRepeat && outcome.job.fence === undefined) problems.push('dispatched, but no node has it');
  }
  const sent = history.received.map(({ nodeId, jobId }) => `${nodeId} ${jobId}`);
  if (new Set(sent).size < sent.length) problems.push('a node was sent the same job twice');
  return [...new Set(problems)];
}

describe('random histories of two instances with faulty ports', () => {
  for (const [name, mode] of Object.entries(MODES)) {
    it(`I1–I4 hold through takeovers when ports are ${name}`, {
      timeout: SEEDS * 2_000,
    }, async () => {
      const failures: string[] = [];
      let example = '';
      let taken = 0;
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
        const [acts = []] = fc.sample(anySharedActs, { numRuns: 1, seed });
        const history = await playShared(seed, acts, mode);
        taken += history.taken;
        const problems = await check(history);
        if (problems.length === 0) continue;
        failures.push(`seed ${seed}: ${problems.join('; ')}`);
        if (example === '') example = `seed ${seed} plays ${JSON.stringify(acts)}`;
      }
      expect(
        failures,
        `${failures.length} of ${SEEDS} histories\n${failures.join('\n')}\n${example}`,
      ).toEqual([]);
      // A history without takeovers would prove nothing.
      expect(taken).toBeGreaterThan(SEEDS);
    });
  }
});
