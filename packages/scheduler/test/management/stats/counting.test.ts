/** What the statistics of one instance count. */
import { describe, expect, it } from 'vitest';
import { ANY } from '../../../src/domain/language.ts';
import type { CountedNode } from '../../../src/management/node-registry.ts';
import { createPowerRanking, powerOf } from '../../../src/management/stats/compute-power.ts';
import { countPart, type StatsSources } from '../../../src/management/stats/count-part.ts';
import { createPartCount } from '../../../src/management/stats/part-count.ts';
import { createLanguageTally, createTally } from '../../../src/management/stats/tally.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { countedNode, finish } from './stats-fixture.ts';

const HARDWARE = { cpuCores: 16, memoryGb: 64, gpusGb: [24, 8] };
const BUSY = { cpuPercent: 30, gpuPercent: 50, memoryPercent: 25, runningJobs: 0 };

function countAll(nodes: readonly CountedNode[], inUse: readonly string[] = []) {
  const count = createPartCount();
  for (const node of nodes) count.addNode(node, inUse.includes(node.nodeId));
  return finish(count.result(0));
}

describe('computing power', () => {
  it('is what is below 50 % of the CPU and below 75 % of GPUs and memory', () => {
    expect(powerOf(HARDWARE, BUSY)).toEqual({ cpu: 3.2, gpu: 8, memory: 32 });
  });

  it('is never negative', () => {
    const full = { cpuPercent: 51, gpuPercent: 100, memoryPercent: 75, runningJobs: 0 };
    expect(powerOf(HARDWARE, full)).toEqual({ cpu: 0, gpu: 0, memory: 0 });
  });

  it('counts unknown figures as unused and unknown hardware as nothing', () => {
    const unknown = { gpuPercent: -1, runningJobs: 0 };
    expect(powerOf(HARDWARE, unknown)).toEqual({ cpu: 8, gpu: 24, memory: 48 });
    expect(powerOf(undefined, BUSY)).toEqual({ cpu: 0, gpu: 0, memory: 0 });
  });

  it('is summed over all nodes, with details of the most powerful', () => {
    const nodes = Array.from({ length: 1_500 }, (_, at) =>
      countedNode(`n-${at}`, { identity: { hardware: { cpuCores: at, memoryGb: 0, gpusGb: [] } } }),
    );
    const { power, details, connectedNodes } = countAll(nodes);
    expect(connectedNodes).toBe(1_500);
    expect(power.cpu).toBeCloseTo((0.5 * 1_499 * 1_500) / 2);
    expect(details).toHaveLength(500);
    expect(details[0]).toMatchObject({ nodeId: 'n-1499', cpu: 749.5 });
    expect(details.at(-1)).toMatchObject({ nodeId: 'n-1000' });
  });

  it('ranks nodes independently of their order', () => {
    const names = ['b', 'd', 'a', 'c'];
    for (const order of [names, [...names].reverse()]) {
      const ranking = createPowerRanking(3);
      for (const nodeId of order) ranking.add({ nodeId, cpu: nodeId === 'd' ? 2 : 1, gpu: 0, memory: 0 });
      expect(ranking.result().map(({ nodeId }) => nodeId)).toEqual(['d', 'a', 'b']);
    }
  });
});

describe('nodes', () => {
  it('are counted by ready service, ready type and usable model', () => {
    const model = (modelId: string, isEnabled = true) => ({ modelId, kind: 'nmt', isEnabled });
    const part = countAll(
      [
        countedNode('a', {
          profile: { readyServices: ['asr-1', 'nmt-1'], readyTypes: ['asr', 'nmt'] },
          report: {
            models: [model('m-1'), model('m-1'), model('m-2', false), model('m-3')],
            serviceStates: new Map([['m-3', 'downloading']]),
          },
        }),
        countedNode('b', {
          profile: { readyServices: ['asr-1'], readyTypes: ['asr'] },
          report: { models: [model('m-1')] },
          efficiencies: [['asr-1', 3.5]],
        }),
      ],
      ['b'],
    );
    expect(part).toMatchObject({
      connectedNodes: 2,
      services: [
        ['asr-1', 2],
        ['nmt-1', 1],
      ],
      types: [
        ['asr', 2],
        ['nmt', 1],
      ],
      typesInUse: [['asr', 1]],
      models: [['m-1', 2]],
    });
    expect(part.details.map(({ nodeId, efficiencies }) => [nodeId, efficiencies])).toEqual([
      ['a', undefined],
      ['b', [['asr-1', 3.5]]],
    ]);
  });

  it('without a report are counted for every type', () => {
    const { types } = countAll([countedNode('a', { profile: { readyServices: [], readyTypes: ANY } })]);
    expect(types.map(([type]) => type)).toEqual(['asr', 'nmt', 'semantic', 'tone', 'tts']);
  });
});

describe('counts by name', () => {
  it('keep the most frequent and sum the others', () => {
    const tally = createTally({ maxNames: 2, maxCounted: 4 });
    tally.add('other', 10);
    for (const name of ['a', 'b', 'b', 'c', 'c', 'c', 'd', 'e', 'f']) tally.add(name);
    expect(tally.result()).toEqual([
      ['c', 3],
      ['b', 2],
      ['other', 14],
    ]);
  });

  it('apply to languages, too', () => {
    const tally = createLanguageTally({ maxLanguages: 1, maxCounted: 2 });
    tally.add('zh', 5, 1);
    tally.add('en', 1, 2);
    tally.add('fr', 1, 1);
    tally.add('zh', 0, 1);
    expect(tally.result()).toEqual([
      ['zh', 5, 2],
      ['other', 2, 3],
    ]);
  });

  it('accept names that are properties of objects', () => {
    const { services } = countAll([
      countedNode('a', { profile: { readyServices: ['__proto__', 'constructor'], readyTypes: [] } }),
    ]);
    expect(services).toEqual([
      ['__proto__', 1],
      ['constructor', 1],
    ]);
  });
});

describe('I6: counting in slices', () => {
  const sourcesOf = (nodes: number, seen: { taken: number }): StatsSources => ({
    *nodes() {
      for (let at = 0; at < nodes; at += 1) {
        seen.taken += 1;
        yield countedNode(`n-${at}`);
      }
    },
    isInUse: () => false,
    activeUsers: () => 3,
    languages: () => [['zh', { asSource: 1, asTarget: 2 }]],
  });

  it('pauses after at most 500 nodes', async () => {
    const manual = createManualClock();
    const seen = { taken: 0 };
    const taken: number[] = [];
    const clock: Clock = {
      ...manual,
      after(delayMs, run) {
        taken.push(seen.taken);
        return manual.after(delayMs, run);
      },
    };
    const counting = countPart(sourcesOf(2_000, seen), clock);
    await manual.advance(100);
    expect(taken.slice(0, 4)).toEqual([500, 1_000, 1_500, 2_000]);
    expect(await counting).toMatchObject({
      connectedNodes: 2_000,
      activeUsers: 3,
      languages: [['zh', 1, 2]],
    });
  });

  it('pauses earlier when nodes take long', async () => {
    const seen = { taken: 0 };
    let pauses = 0;
    // Every look at the clock finds a millisecond gone.
    let now = 0;
    const clock: Clock = {
      ...createManualClock(),
      now: () => ++now,
      after: (_, run) => {
        pauses += 1;
        queueMicrotask(run);
        return () => undefined;
      },
    };
    await countPart(sourcesOf(400, seen), clock);
    expect(pauses).toBeGreaterThan(25);
  });
});
