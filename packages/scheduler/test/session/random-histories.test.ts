/**
 * Sessions under random histories. SESSION_SEEDS plays more of them, SESSION_FIRST_SEED others: a failure names its seed and
 * prints what happened.
 */
import { describe, expect, it } from 'vitest';
import { problemsOf } from './support/history-checks.ts';
import { playHistory } from './support/random-history.ts';

const SEEDS = Number(process.env.SESSION_SEEDS ?? 400);
const FIRST_SEED = Number(process.env.SESSION_FIRST_SEED ?? 1);

describe('random histories of sessions', () => {
  it('I5 order: holds, no audio is lost and no state remains', {
    timeout: 20_000 + SEEDS * 200,
  }, async () => {
    const failures: string[] = [];
    let example = '';
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      const history = await playHistory(seed);
      const problems = problemsOf(history);
      if (problems.length === 0) continue;
      failures.push(`seed ${seed}: ${problems.join('; ')}`);
      if (example === '') example = `seed ${seed}:\n  ${history.acts.join('\n  ')}`;
    }
    const summary = `${failures.length} of ${SEEDS} histories\n${failures.slice(0, 20).join('\n')}\n${example}`;
    expect(failures, summary).toEqual([]);
  });
});
