/** What a driver is to hear of a job that was just handed to a node: gathered for a moment, and in the order it was said in. */
import { describe, expect, it } from 'vitest';
import { createFirstWords, FIRST_WORDS_MS } from '../../src/cluster/holder/first-words.ts';
import { createManualClock } from '../support/manual-clock.ts';

function start() {
  const clock = createManualClock();
  const words = createFirstWords({ clock });
  const told: string[] = [];
  return {
    clock,
    words,
    told,
    handOut: (jobId: string, driver: string) =>
      void words.wait(jobId, driver).then(() => told.push(`${jobId} left`)),
    acknowledge: (jobId: string) => words.orAtOnce(jobId, () => told.push(`${jobId} acknowledged`)),
  };
}

describe('the first words of a job', () => {
  it('wait for a moment, and are then told together', async () => {
    const { clock, told, handOut, acknowledge } = start();
    handOut('job-1', 'driver');
    acknowledge('job-1');
    await clock.advance(FIRST_WORDS_MS - 1);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual(['job-1 acknowledged', 'job-1 left']);
  });

  it('go before a last word, which waits for nothing', async () => {
    const { clock, words, told, handOut, acknowledge } = start();
    handOut('job-1', 'driver');
    acknowledge('job-1');
    words.end('job-1', 'driver');
    told.push('job-1 finished');
    await clock.advance(0);
    expect(told).toEqual(['job-1 acknowledged', 'job-1 finished', 'job-1 left']);
  });

  it('go along with those of other jobs of the same driver, unless nothing was said of them yet', async () => {
    const { clock, words, told, handOut, acknowledge } = start();
    handOut('job-1', 'driver');
    handOut('job-2', 'driver');
    handOut('job-3', 'another');
    for (const jobId of ['job-2', 'job-3']) acknowledge(jobId);
    words.end('job-4', 'driver');
    await clock.advance(0);
    expect(told).toEqual(['job-2 acknowledged', 'job-2 left']);
    await clock.advance(FIRST_WORDS_MS);
    expect(told.slice(2).sort()).toEqual(['job-1 left', 'job-3 acknowledged', 'job-3 left']);
  });

  it('are told at once after the moment is over', async () => {
    const { clock, told, handOut, acknowledge } = start();
    handOut('job-1', 'driver');
    await clock.advance(FIRST_WORDS_MS);
    acknowledge('job-1');
    expect(told).toEqual(['job-1 left', 'job-1 acknowledged']);
  });
});
