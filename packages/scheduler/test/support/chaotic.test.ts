/** The chaos wrapper is the same for the same seed, keeps the order of calls, and stops failing at a rate of 0. */
import { describe, expect, it } from 'vitest';
import { seededChance } from '../runtime/fleet/fleet-fixture.ts';
import { type Chaos, chaotic } from './chaotic.ts';
import { createManualClock } from './manual-clock.ts';

function createFixture(options: { seed?: number; maxDelayMs?: number; failRate?: number }) {
  const clock = createManualClock(0);
  const effects: number[] = [];
  const answers: string[] = [];
  const notes = {
    add: async (number: number): Promise<number> => effects.push(number),
    count: (): number => effects.length,
  };
  const chaos: Chaos = {
    maxDelayMs: options.maxDelayMs ?? 0,
    failRate: options.failRate ?? 0,
    chance: seededChance(options.seed ?? 1),
  };
  const port = chaotic(notes, ['add'], clock, chaos);
  const call = (number: number) =>
    void port.add(number).then(
      () => answers.push(`${number} at ${clock.now()}`),
      () => answers.push(`${number} failed at ${clock.now()}`),
    );
  return { clock, effects, answers, chaos, port, call };
}

async function trace(seed: number): Promise<string[]> {
  const { clock, answers, call } = createFixture({ seed, maxDelayMs: 50, failRate: 0.3 });
  for (let number = 1; number <= 50; number++) call(number);
  await clock.advance(10_000);
  return answers;
}

describe('chaotic', () => {
  it('is the same for the same seed only', async () => {
    const first = await trace(1);
    expect(first).toHaveLength(50);
    expect(await trace(1)).toEqual(first);
    expect(await trace(2)).not.toEqual(first);
  });

  it('keeps the order of effects and of answers', async () => {
    const { clock, effects, answers, call } = createFixture({ maxDelayMs: 100 });
    const numbers = Array.from({ length: 30 }, (_, index) => index);
    for (const number of numbers) call(number);
    await clock.advance(10_000);
    expect(effects).toEqual(numbers);
    expect(answers.map((answer) => Number(answer.split(' ')[0]))).toEqual(numbers);
  });

  it('fails at the given rate, before and after the effect', async () => {
    const { clock, effects, answers, chaos, call } = createFixture({ failRate: 0.5 });
    for (let number = 0; number < 1_000; number++) call(number);
    await clock.advance(0);
    const failed = answers.filter((answer) => answer.includes('failed')).length;
    expect(failed).toBeGreaterThan(400);
    expect(failed).toBeLessThan(600);
    expect(effects.length).toBeGreaterThan(1_000 - failed);
    expect(effects.length).toBeLessThan(1_000);
    chaos.failRate = 0;
    answers.length = 0;
    for (let number = 0; number < 100; number++) call(number);
    await clock.advance(0);
    expect(answers.filter((answer) => answer.includes('failed'))).toEqual([]);
  });

  it('does not affect other methods', () => {
    expect(createFixture({ failRate: 1 }).port.count()).toBe(0);
  });
});
