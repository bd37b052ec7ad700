import { describe, expect, it } from 'vitest';
import { planCut, planTurn } from '../../../src/cli/simulated-client/plan-turn.ts';
import { createSeededChance } from '../../../src/cli/simulated-node/seeded-chance.ts';

const BEHAVIOUR = { chunkMs: 100, utteranceMs: 2_000, pauseMs: 1_000, cutEveryMs: 10_000 };

const conversation = (seed: number) => {
  const chance = createSeededChance(seed);
  return Array.from({ length: 50 }, (_, index) => planTurn(BEHAVIOUR, index + 1, chance));
};

describe('a conversation', () => {
  it('alternates in turns of about the usual length', () => {
    const turns = conversation(3);
    expect(turns.map(({ isSecondSpeaker }) => isSecondSpeaker).slice(0, 4)).toEqual([
      false,
      true,
      false,
      true,
    ]);
    for (const { speakMs, pauseMs } of turns) {
      expect(speakMs).toBeGreaterThanOrEqual(1_000);
      expect(speakMs).toBeLessThan(3_000);
      expect(pauseMs).toBeGreaterThanOrEqual(500);
      expect(pauseMs).toBeLessThan(1_500);
    }
  });

  it('is the same for the same seed only', () => {
    expect(conversation(3)).toEqual(conversation(3));
    expect(conversation(4)).not.toEqual(conversation(3));
  });

  it('never has an utterance shorter than a chunk', () => {
    const turn = planTurn({ ...BEHAVIOUR, utteranceMs: 10 }, 1, () => 0);
    expect(turn.speakMs).toBe(BEHAVIOUR.chunkMs);
  });

  it('loses its connection first at a random time, then regularly', () => {
    expect(planCut(BEHAVIOUR, 1, () => 0.25)).toBe(2_500);
    expect(planCut(BEHAVIOUR, 2, () => 0.25)).toBe(10_000);
  });
});
