/** MODEL_NOT_AVAILABLE, from the report to the mark: queued, limited per node, dealt with once per version over all instances. */
import { describe, expect, it } from 'vitest';
import { createLocks } from '../../../src/adapters/memory/locks.ts';
import type { MissingModel } from '../../../src/management/marks/model-report.ts';
import { createModelReports, MAX_AT_ONCE, MAX_QUEUED } from '../../../src/management/marks/model-reports.ts';
import type { MarkResult } from '../../../src/management/node-registry.ts';
import type { Locks } from '../../../src/ports/locks.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const SETTINGS = { debounceMs: 5_000, limitWindowMs: 10_000, limitMax: 30 };
const details = { service_id: 'm2m', service_version: '1', reason: 'not found' };
const heard: MissingModel = { serviceId: 'm2m', version: '1', reason: 'not_found' };

function startReports(
  parts: {
    clock?: ReturnType<typeof createManualClock>;
    locks?: Locks;
    holder?: (nodeId: string) => boolean;
  } = {},
) {
  const clock = parts.clock ?? createManualClock();
  const counts: Record<string, number> = {};
  const marks: string[] = [];
  const passedOn: string[] = [];
  const withdrawn: string[] = [];
  const warned: object[] = [];
  let asked = 0;
  let answer: MarkResult | Error = 'marked';
  const inner = parts.locks ?? createLocks({ clock });
  const ignore = () => {};
  const reports = createModelReports({
    clock,
    log: { debug: ignore, info: ignore, warn: (fields) => warned.push(fields), error: ignore },
    meter: {
      count(name, labels, by = 1) {
        const key = [name.replace('scheduler_model_na_', ''), ...Object.values(labels ?? {})].join(' ');
        counts[key] = (counts[key] ?? 0) + by;
      },
      gauge(name, value, labels) {
        counts[[name.replace('scheduler_model_na_', ''), ...Object.values(labels ?? {})].join(' ')] = value;
      },
      observe: ignore,
    },
    registry: {
      markMissing(nodeId, serviceId) {
        if (answer instanceof Error) throw answer;
        marks.push(`${nodeId} ${serviceId}`);
        return answer;
      },
    },
    passOn(nodeId, missing) {
      if (parts.holder?.(nodeId) !== true) return false;
      passedOn.push(`${nodeId} ${missing.serviceId}@${missing.version} ${missing.reason}`);
      return true;
    },
    locks: {
      take(name, ttlMs) {
        asked += 1;
        return inner.take(name, ttlMs);
      },
    },
    withdrawn: (serviceId, version) => withdrawn.push(`${serviceId}@${version}`),
    settings: SETTINGS,
  });
  return {
    clock,
    reports,
    counts,
    marks,
    passedOn,
    withdrawn,
    warned,
    asked: () => asked,
    answerWith: (next: MarkResult | Error) => {
      answer = next;
    },
    /** Until the queue is empty. */
    settle: async () => {
      while (reports.levels().queue > 0) await clock.advance(5);
      await clock.advance(0);
    },
  };
}

describe('MODEL_NOT_AVAILABLE: the hot path', () => {
  it('only puts the report into a queue', async () => {
    const { reports, marks, counts, asked, settle } = startReports();
    reports.report('n1', details);
    expect([marks, counts, asked(), reports.levels().queue]).toEqual([[], {}, 0, 1]);
    await settle();
    expect(marks).toEqual(['n1 m2m']);
    expect(counts).toEqual({
      received_total: 1,
      'by_service_total m2m': 1,
      'last_reaction_seconds m2m': 1_700_000_000,
      'by_reason_total not_found': 1,
      marked_total: 1,
      'marked_by_node_total n1': 1,
    });
  });

  it('records when each model was last marked, also within the debounce window', async () => {
    const { reports, counts, clock, settle } = startReports();
    reports.report('n1', details);
    await settle();
    const first = counts['last_reaction_seconds m2m'];
    expect(first).toBe(1_700_000_000);
    await clock.advance(2_000);
    reports.report('n2', details);
    await settle();
    expect((counts['last_reaction_seconds m2m'] ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(2);
  });

  it('a report without effect is no reaction', async () => {
    const { reports, counts, answerWith, settle } = startReports();
    for (const result of ['unknown_node', 'marks_full', 'known'] as const) {
      answerWith(result);
      reports.report('n1', details);
      await settle();
    }
    expect(counts).not.toHaveProperty('last_reaction_seconds m2m');
  });

  it('is not delayed by 10,000 reports: the rest is dropped and counted', async () => {
    const { reports, marks, counts, asked, withdrawn, clock, settle } = startReports();
    for (let n = 0; n < 10_000; n += 1) reports.report(`n${n % 200}`, details);
    expect([marks.length, asked(), clock.pending()]).toEqual([0, 0, 1]);
    expect(counts).toEqual({ 'dropped_total queue_full': 10_000 - MAX_QUEUED });
    await clock.advance(0);
    expect(marks).toHaveLength(MAX_AT_ONCE);
    await settle();
    expect(marks).toHaveLength(MAX_QUEUED);
    // Of all that: one question to the store, one line, one word to the catalogue.
    expect([asked(), withdrawn, clock.pending()]).toEqual([1, ['m2m@1'], 0]);
    expect(reports.levels()).toMatchObject({ queue: 0, nodes: 200, versions: 1 });
  });

  it('I6: pauses earlier when the reports take long', async () => {
    const clock = createManualClock();
    const holder = () => {
      clock.jump(1);
      return true;
    };
    const { reports, passedOn, settle } = startReports({ clock, holder });
    for (let n = 0; n < 10; n += 1) reports.report(`n${n}`, details);
    await clock.advance(0);
    expect(passedOn).toHaveLength(2);
    await settle();
    expect(passedOn).toHaveLength(10);
  });

  it('ignores unreadable reports and continues after a fault', async () => {
    const { reports, marks, counts, answerWith, settle } = startReports();
    for (const odd of [{}, { service_id: 5 }, { service_id: 'x'.repeat(1_000_000) }])
      reports.report('n1', odd);
    answerWith(new Error('a fault'));
    reports.report('n1', details);
    await settle();
    answerWith('marked');
    reports.report('n1', details);
    await settle();
    expect(marks).toEqual(['n1 m2m']);
    expect(counts).toMatchObject({
      received_total: 5,
      'dropped_total missing_service_id': 1,
      'dropped_total invalid_service_id': 2,
    });
  });

  it('counts reports that could not be marked', async () => {
    const { reports, counts, withdrawn, answerWith, settle } = startReports();
    for (const result of ['unknown_node', 'marks_full', 'known'] as const) {
      answerWith(result);
      reports.report('n1', { ...details, service_version: result });
      await settle();
    }
    expect(counts).toMatchObject({ 'dropped_total unknown_node': 1, 'dropped_total marks_full': 1 });
    expect(counts.marked_total).toBeUndefined();
    expect(withdrawn).toEqual(['m2m@marks_full', 'm2m@known']);
  });
});

describe('MODEL_NOT_AVAILABLE: the limit per node', () => {
  it('accepts so many reports per node and window, and counts the others', async () => {
    const { reports, marks, counts, clock, settle } = startReports();
    for (let n = 0; n < 100; n += 1) reports.report('loud', details);
    reports.report('quiet', details);
    await settle();
    expect(marks.filter((one) => one.startsWith('loud'))).toHaveLength(30);
    expect(marks).toContain('quiet m2m');
    expect(counts).toMatchObject({
      received_total: 101,
      rate_limited_total: 70,
      'rate_limited_by_node_total loud': 70,
    });
    await clock.advance(SETTINGS.limitWindowMs);
    reports.report('loud', details);
    await settle();
    expect(counts.rate_limited_total).toBe(70);
  });

  it('holds for all instances: the holder counts forwarded reports', async () => {
    const clock = createManualClock();
    const holder = startReports({ clock });
    const drivers = [1, 2, 3].map(() => startReports({ clock, holder: () => true }));
    for (const { reports, settle, passedOn, marks } of drivers) {
      for (let n = 0; n < 100; n += 1) reports.report('n1', details);
      await settle();
      expect(passedOn).toHaveLength(30);
      expect(marks).toEqual([]);
      for (const _ of passedOn) holder.reports.hear('n1', heard);
    }
    await holder.settle();
    expect(holder.marks).toHaveLength(30);
    expect(holder.counts).toMatchObject({ rate_limited_total: 60, 'rate_limited_by_node_total n1': 60 });
    // Received where the node's answer was, once.
    expect(holder.counts.received_total).toBeUndefined();
    expect(holder.passedOn).toEqual([]);
  });

  it('is applied by the receiver; a forwarded report is not forwarded again', async () => {
    const { reports, marks, passedOn, settle } = startReports({ holder: () => true });
    reports.hear('n1', heard);
    await settle();
    expect([marks, passedOn]).toEqual([['n1 m2m'], []]);
  });

  it('remembers a bounded number of nodes and drops the oldest', async () => {
    const { reports, settle, clock } = startReports();
    for (let from = 0; from < 12_000; from += 3_000) {
      for (let n = from; n < from + 3_000; n += 1) reports.report(`n${n}`, details);
      await settle();
    }
    expect(reports.levels().nodes).toBeLessThanOrEqual(10_000);
    await clock.advance(SETTINGS.limitWindowMs);
    reports.report('n1', details);
    await settle();
    expect(reports.levels().nodes).toBe(1);
  });

  it('ignores malformed reports of another instance', async () => {
    const { reports, marks, counts, settle } = startReports();
    reports.hear('n1', { serviceId: 7, version: '1', reason: 'not_found' });
    reports.hear('n1', { serviceId: 'm2m', version: undefined, reason: 'not_found' });
    await settle();
    expect([marks, counts]).toEqual([[], { 'dropped_total unreadable_news': 2 }]);
  });
});

describe('MODEL_NOT_AVAILABLE: a service and version', () => {
  it('is handled once per window by all instances, and every node is marked', async () => {
    const clock = createManualClock();
    const locks = createLocks({ clock });
    const instances = [1, 2, 3].map(() => startReports({ clock, locks }));
    const [first] = instances as [(typeof instances)[0]];
    const round = async () => {
      for (const [at, { reports, settle }] of instances.entries()) {
        for (let n = 0; n < 10; n += 1) reports.report(`n${at}${n}`, details);
        await settle();
      }
    };
    const all = () => instances.flatMap(({ withdrawn }) => withdrawn);
    await round();
    expect(all()).toEqual(['m2m@1']);
    expect(first.warned).toMatchObject([{ service_id: 'm2m', service_version: '1', reason: 'not_found' }]);
    expect(instances.map(({ marks }) => marks.length)).toEqual([10, 10, 10]);
    expect(instances.map(({ asked }) => asked())).toEqual([1, 1, 1]);
    expect(instances.map(({ counts }) => counts.debounced_total)).toEqual([9, 10, 10]);
    first.reports.report('n1', { ...details, service_version: '2' });
    first.reports.report('n1', { ...details, service_id: 'piper' });
    await first.settle();
    expect(all()).toEqual(['m2m@1', 'm2m@2', 'piper@1']);
    await clock.advance(SETTINGS.debounceMs);
    await round();
    expect(all().filter((one) => one === 'm2m@1')).toHaveLength(2);
  });

  it('is marked and reported when the store does not answer', async () => {
    const down: Locks = { take: () => Promise.reject(new Error('away')) };
    const { reports, marks, withdrawn, settle } = startReports({ locks: down });
    for (let n = 0; n < 5; n += 1) reports.report(`n${n}`, details);
    await settle();
    expect(marks).toHaveLength(5);
    expect(withdrawn).toEqual(['m2m@1']);
  });

  it('is kept in a bounded list', async () => {
    const { reports, settle } = startReports();
    for (let from = 0; from < 12_000; from += 3_000) {
      for (let n = from; n < from + 3_000; n += 1)
        reports.report(`n${n}`, { ...details, service_version: `${n}` });
      await settle();
    }
    expect(reports.levels().versions).toBeLessThanOrEqual(10_000);
  });
});
