/** What an operator should look at: nothing without a cause, the most urgent first, and with a runbook entry that exists. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type AttentionFacts, attentionOf } from '../../../src/management/stats/attention.ts';
import type { FiguresPoint } from '../../../src/management/stats/summary.ts';

const pointOf = (given: {
  failed?: number;
  finished?: number;
  refused?: Record<string, number>;
  oldestWaitMs?: number;
  reports?: number;
}): FiguresPoint => ({
  at: 0,
  spanMs: 1_000,
  instances: 1,
  counts: {
    admitted: 0,
    cancelled: 0,
    retries: 0,
    takeovers: 0,
    reports: given.reports ?? 0,
    failed: given.failed ?? 0,
    finished: given.finished ?? 0,
  },
  refused: given.refused ?? {},
  levels: { inFlight: 0, waiting: 1, oldestWaitMs: given.oldestWaitMs ?? 0, sessions: 0, connected: 0 },
  stages: {},
});

const WELL: AttentionFacts = {
  points: [pointOf({ finished: 100, failed: 1 })],
  nodes: { all: 3, online: 3, ready: 3, ejected: 0 },
  failing: [],
  warnings: [],
};

const idsOf = (facts: Partial<AttentionFacts>): string[] =>
  attentionOf({ ...WELL, ...facts }).map(({ id }) => id);

describe('attention', () => {
  it('is empty while all is well', () => {
    expect(attentionOf(WELL)).toEqual([]);
  });

  it('names each cause', () => {
    expect(idsOf({ nodes: { all: 3, online: 2, ready: 0, ejected: 1 } })).toEqual([
      'no_ready_node',
      'nodes_ejected',
      'nodes_offline',
    ]);
    expect(idsOf({ points: [pointOf({ refused: { NO_CAPABLE_NODE: 1 } })] })).toEqual(['jobs_refused']);
    expect(idsOf({ points: [pointOf({ failed: 3, finished: 10 })] })).toEqual(['jobs_failing']);
    expect(idsOf({ points: [pointOf({ oldestWaitMs: 3_000 })] })).toEqual(['jobs_waiting_long']);
    expect(idsOf({ points: [pointOf({ reports: 2 })] })).toEqual(['bad_translations']);
    expect(idsOf({ warnings: ['Redis does not answer'] })).toEqual(['cluster_warning']);
  });

  it('has the grammar of its numbers', () => {
    const textsOf = (facts: Partial<AttentionFacts>) =>
      attentionOf({ ...WELL, ...facts }).map(({ text }) => text);
    expect(textsOf({ nodes: { all: 1, online: 0, ready: 0, ejected: 1 } })).toEqual([
      'none of 1 node is ready',
      '1 node gets no jobs because too many failed there',
      '1 of 1 node is offline',
    ]);
    expect(textsOf({ nodes: { all: 4, online: 2, ready: 1, ejected: 2 } })).toEqual([
      '2 nodes get no jobs because too many failed there',
      '2 of 4 nodes are offline',
    ]);
    const point = pointOf({ refused: { NO_CAPABLE_NODE: 1 }, reports: 1, oldestWaitMs: 3_000 });
    expect(textsOf({ points: [point] })).toEqual([
      '1 request was refused in the last minute, most with NO_CAPABLE_NODE',
      '1 job waits for a slot, the oldest for 3 s',
      'clients reported 1 bad translation in the last minute',
    ]);
  });

  it('adds up the failed attempts that several instances report of one node', () => {
    const failing = [
      { nodeId: 'n1', failed: 4, of: 5 },
      { nodeId: 'n2', failed: 9, of: 10 },
      { nodeId: 'n1', failed: 6, of: 10 },
    ];
    expect(attentionOf({ ...WELL, failing })).toMatchObject([
      { id: 'node_failing', page: 'node', target: 'n1', text: '10 of the last 15 attempts on n1 failed' },
      { target: 'n2' },
    ]);
  });

  it('refers to entries that the runbook has', () => {
    const runbook = readFileSync(new URL('../../../../../docs/runbook.md', import.meta.url), 'utf8');
    const all = attentionOf({
      points: [pointOf({ failed: 9, refused: { RATE_LIMITED: 1 }, oldestWaitMs: 9_000 })],
      nodes: { all: 3, online: 2, ready: 0, ejected: 1 },
      failing: [{ nodeId: 'n1', failed: 9, of: 9 }],
      warnings: ['text'],
    });
    const named = all.flatMap(({ runbook: heading }) => heading ?? []);
    expect(named.length).toBeGreaterThan(4);
    for (const heading of named) expect(runbook).toContain(`\n### ${heading}\n`);
  });
});
