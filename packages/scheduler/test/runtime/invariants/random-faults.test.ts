/**
 * The invariants under random histories, on ports that are instant, slow, very slow and failing. CHAOS_SEEDS plays more
 * of them, CHAOS_FIRST_SEED others: a failure names its seed, and its acts for when the generator has changed.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/domain/job.ts';
import { problemsOf } from '../rigs/job-problems.ts';
import { anyActs, type History, type Mode, NODES, playHistory } from '../rigs/random-history.ts';

const SEEDS = Number(process.env.CHAOS_SEEDS ?? 60);
const FIRST_SEED = Number(process.env.CHAOS_FIRST_SEED ?? 1);

const MODES: Readonly<Record<string, Mode>> = {
  instant: { maxDelayMs: 0, failRate: 0 },
  slow: { maxDelayMs: 30, failRate: 0 },
  'very slow': { maxDelayMs: 800, failRate: 0 },
  failing: { maxDelayMs: 10, failRate: 0.1 },
};

/** What remains when all jobs have ended. */
async function leftovers({ rig, faults, oversold }: History): Promise<string[]> {
  const leased: string[] = [];
  for (const nodeId of NODES) if ((await rig.used(nodeId)) !== 0) leased.push(nodeId);
  const left = {
    'unexpected faults': faults.map(String),
    'I1 oversold': [...oversold],
    'I2 leases left': leased,
    'I2 flights left': rig.service.inFlight(),
    'waiters left': rig.service.waiting(),
    'audio left': rig.audio.size(),
    'timers left': rig.clock.pending(),
  };
  return Object.entries(left)
    .filter(([, what]) => (typeof what === 'number' ? what !== 0 : what.length > 0))
    .map(([name, what]) => `${name}: ${what}`);
}

function falseAnswers({ outcomes, received }: History, jobs: readonly JobRecord[]): string[] {
  const problems: string[] = [];
  const known = new Set(jobs.map(({ jobId }) => jobId));
  for (const outcome of outcomes) {
    if (outcome.kind !== 'dispatched') continue;
    if (!known.has(outcome.job.jobId)) problems.push('dispatched, but there is no record');
    if (outcome.job.fence === undefined)
      problems.push(`dispatched, but no node has it (${outcome.job.state})`);
  }
  if (new Set(received.map(({ nodeId, jobId }) => `${nodeId} ${jobId}`)).size < received.length)
    problems.push('a node was sent the same job twice');
  return problems;
}

async function check(history: History): Promise<string[]> {
  const { jobs } = await history.rig.store.list({ limit: 1_000 });
  return [
    ...new Set([
      ...(await leftovers(history)),
      ...jobs.flatMap((job) => problemsOf(job, history.accepted.get(job.jobId) ?? 0)),
      ...falseAnswers(history, jobs),
    ]),
  ];
}

describe('random histories with faulty ports', () => {
  for (const [name, mode] of Object.entries(MODES)) {
    it(`I1–I4 hold and nothing is left behind when ports are ${name}`, {
      timeout: SEEDS * 2_000,
    }, async () => {
      const failures: string[] = [];
      let example = '';
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
        const [acts = []] = fc.sample(anyActs, { numRuns: 1, seed });
        const problems = await check(await playHistory(seed, acts, mode));
        if (problems.length === 0) continue;
        failures.push(`seed ${seed}: ${problems.join('; ')}`);
        if (example === '') example = `seed ${seed} plays ${JSON.stringify(acts)}`;
      }
      expect(
        failures,
        `${failures.length} of ${SEEDS} histories\n${failures.join('\n')}\n${example}`,
      ).toEqual([]);
    });
  }
});
