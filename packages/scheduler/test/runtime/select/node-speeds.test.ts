/** What the policy `fastest` learns about nodes, and whom it chooses by it. */
import { describe, expect, it } from 'vitest';
import { NodeNumbers } from '../../../src/domain/numbered/node-numbers.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { compileNeed } from '../../../src/runtime/select/compile-need.ts';
import {
  createNodeSpeeds,
  expectedPace,
  type KindOfWork,
  workOf,
} from '../../../src/runtime/select/node-speeds.ts';
import { select } from '../../../src/runtime/select/select.ts';
import { nodeView, seededChance, someNeed } from '../fleet/fleet-fixture.ts';

const KIND = 'en to zh';
const IDLE = { used: 1, max: 4 };

function learning(...nodeIds: string[]) {
  const numbers = new NodeNumbers();
  for (const nodeId of nodeIds) numbers.keep(nodeId);
  const speeds = createNodeSpeeds(numbers);
  const pace = (nodeId: string, now = 0): number =>
    expectedPace(speeds.kind(KIND) as KindOfWork, numbers.find(nodeId), nodeId, now);
  return { numbers, speeds, pace };
}

describe('the speed of a node', () => {
  it('is the time per unit of work', () => {
    const { speeds, pace } = learning('a');
    speeds.finished(KIND, 'a', 600, 3, IDLE, 0);
    expect(pace('a')).toBe(200);
  });

  it('does not count what the other jobs of the node took', () => {
    const { speeds, pace } = learning('idle', 'full');
    speeds.finished(KIND, 'idle', 600, 3, { used: 1, max: 4 }, 0);
    speeds.finished(KIND, 'full', 900, 3, { used: 4, max: 4 }, 0);
    expect(pace('full')).toBeCloseTo(pace('idle'));
  });

  it('follows the newest jobs', () => {
    const { speeds, pace } = learning('a');
    for (let job = 0; job < 20; job++) speeds.finished(KIND, 'a', 100, 1, IDLE, 0);
    for (let job = 0; job < 10; job++) speeds.finished(KIND, 'a', 300, 1, IDLE, 0);
    expect(pace('a')).toBeGreaterThan(290);
  });

  it('is doubted after a while, so that a slow node is tried again', () => {
    const { speeds, pace } = learning('a');
    speeds.finished(KIND, 'a', 100, 1, IDLE, 0);
    expect(pace('a', 10_000)).toBe(100);
    expect(pace('a', 30_000)).toBeLessThan(70);
    expect(pace('a', 10_000_000)).toBeCloseTo(50);
  });

  it('is better than the mean for a node that has done no such job', () => {
    const { speeds, pace } = learning('a', 'new');
    speeds.finished(KIND, 'a', 100, 1, IDLE, 0);
    expect(pace('new')).toBe(50);
  });

  it('is not inherited by the next node with the same number', () => {
    const { numbers, speeds, pace } = learning('a', 'old');
    speeds.finished(KIND, 'a', 100, 1, IDLE, 0);
    speeds.finished(KIND, 'old', 900, 1, IDLE, 0);
    const number = numbers.find('old');
    numbers.drop(number);
    expect(numbers.keep('next')).toBe(number);
    expect(pace('next')).toBeLessThan(100);
  });

  it('is at least that of a job that was given up', () => {
    const { speeds, pace } = learning('a', 'stuck');
    speeds.finished(KIND, 'a', 100, 1, IDLE, 0);
    speeds.gaveUp(KIND, 'stuck', 5_000, 1, IDLE, 0);
    expect(pace('stuck')).toBe(5_000);
    // A job that was cancelled early says nothing.
    speeds.gaveUp(KIND, 'a', 3, 1, IDLE, 0);
    speeds.gaveUp(KIND, 'stuck', 300, 1, IDLE, 0);
    expect([pace('a'), pace('stuck')]).toEqual([100, 5_000]);
  });

  it('is not learnt from times of another clock', () => {
    const { speeds } = learning('a');
    for (const ms of [-5, 0, Number.NaN]) speeds.finished(KIND, 'a', ms, 1, IDLE, 0);
    expect(speeds.kind(KIND)).toBeUndefined();
  });

  it('is learnt from other instances, too', () => {
    const numbers = new NodeNumbers();
    numbers.keep('a');
    const sent: [string, string, number][] = [];
    const here = createNodeSpeeds(numbers, (...pace) => void sent.push(pace));
    here.finished(KIND, 'a', 600, 3, IDLE, 0);
    expect(sent).toEqual([[KIND, 'a', 200]]);
    const { speeds, pace } = learning('a');
    for (const [kind, nodeId, learnt] of sent) speeds.heard(kind, nodeId, learnt, 0);
    speeds.heard(KIND, 'a node that this instance does not know', 7, 0);
    expect(pace('a')).toBe(200);
    // What came from elsewhere is not sent again.
    expect(sent).toHaveLength(1);
  });

  it('I11 bounded: is kept for 64 kinds of work', () => {
    const { speeds } = learning('a');
    for (let kind = 0; kind <= 64; kind++) speeds.finished(`kind ${kind}`, 'a', 100, 1, IDLE, 0);
    expect(speeds.kind('kind 0')).toBeUndefined();
    expect(speeds.kind('kind 64')).toBeDefined();
  });
});

describe('the work of a job', () => {
  const spec = { inputText: undefined } as Parameters<typeof workOf>[0]['spec'];

  it('is its seconds of audio, or its characters, and a little more', () => {
    expect(workOf({ spec, audioMs: 2_000 })).toBe(2.5);
    expect(workOf({ spec: { ...spec, inputText: 'x'.repeat(30) } })).toBe(2.5);
  });

  it('is unknown if the length of the audio is', () => {
    expect(workOf({ spec })).toBeUndefined();
  });
});

describe('fastest', () => {
  /** How often each of the nodes comes first. `ms`: what a job of one unit took there. */
  function firsts(
    ms: Readonly<Record<string, number>>,
    hasPeers = false,
    loads: Record<string, number> = {},
  ) {
    const fleet = createFleetView();
    const speeds = createNodeSpeeds(fleet.numbers);
    const compiled = compileNeed(fleet, someNeed());
    for (const nodeId of Object.keys(ms)) {
      fleet.upsert(nodeView(nodeId, { slots: 4 }));
      fleet.setLoad(nodeId, { used: loads[nodeId] ?? 0, max: 4 });
    }
    for (const [nodeId, took] of Object.entries(ms))
      if (took > 0) speeds.finished(compiled.query.key, nodeId, took, 1, IDLE, 0);
    const options = {
      chance: seededChance(5),
      sampleK: 20,
      policy: 'fastest',
      excluded: new Set<string>(),
      foresee: (key: string) => ({ kind: speeds.kind(key), now: 0, hasPeers }),
    } as const;
    const counts: Record<string, number> = Object.fromEntries(Object.keys(ms).map((nodeId) => [nodeId, 0]));
    for (let round = 0; round < 1_000; round++) {
      const nodeId = select(fleet, compiled, options).next() as string;
      counts[nodeId] = (counts[nodeId] ?? 0) + 1;
    }
    return counts;
  }

  it('leaves a node alone that takes three times as long', () => {
    expect(firsts({ quick: 100, slow: 300 })).toEqual({ quick: 1_000, slow: 0 });
  });

  it('shares the work among nodes that are nearly as fast', () => {
    const counts = firsts({ a: 100, b: 110, c: 120 });
    for (const nodeId of ['a', 'b', 'c']) expect(counts[nodeId]).toBeGreaterThan(200);
  });

  it('tries a node that has done no such job', () => {
    expect(firsts({ known: 100, unknown: 0 }).unknown).toBeGreaterThan(500);
  });

  it('prefers an idle node to an equally fast one that is busy', () => {
    const { idle = 0, busy = 0 } = firsts({ idle: 100, busy: 100 }, false, { busy: 3 });
    expect(idle).toBeGreaterThan(5 * busy);
  });

  it('leaves the last slot to others while peers could take it, too', () => {
    const loads = { quick: 3 };
    expect(firsts({ quick: 100, slower: 200 }, false, loads).quick).toBeGreaterThan(300);
    expect(firsts({ quick: 100, slower: 200 }, true, loads).quick).toBeLessThan(200);
  });
});
