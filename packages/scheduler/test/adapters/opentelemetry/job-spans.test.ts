/** The spans of a job, made from its timeline: attempts that fail, wait, report late or never acknowledge. */
import { describe, expect, it } from 'vitest';
import { jobSpans } from '../../../src/adapters/opentelemetry/job-spans.ts';
import { isSampled, spanIdOf, traceIdOf } from '../../../src/adapters/opentelemetry/trace-ids.ts';
import type { JobState, TimelineEntry } from '../../../src/domain/job.ts';
import type { Stage } from '../../../src/domain/stage.ts';
import { settledJob } from '../../contracts/tracer.ts';

const AT = 1_000;

/** [state, at, attempt, node, reason] */
type Line = readonly [JobState, number, number, string?, string?];

const spansOf = (lines: readonly Line[], failure?: string) =>
  jobSpans(
    settledJob({
      createdAt: AT,
      timeline: lines.map(
        ([state, at, attempt, nodeId, reason]): TimelineEntry => ({
          state,
          at: AT + at,
          attempt,
          nodeId,
          reason,
        }),
      ),
      failure: failure === undefined ? undefined : { code: failure, message: '' },
    }),
  ).map(({ name, startAt, endAt, error }) => [
    name,
    startAt - AT,
    endAt - AT,
    ...(error === undefined ? [] : [error]),
  ]);

describe('the spans of a job', () => {
  it('are the job, its attempt and the stages of the attempt', () => {
    const lines: Line[] = [
      ['CREATED', 0, 0],
      ['RESERVED', 0, 1, 'a'],
      ['DISPATCHED', 2, 1, 'a'],
      ['RUNNING', 5, 1, 'a'],
      ['FINISHED', 50, 1, 'a'],
    ];
    expect(spansOf(lines)).toEqual([
      ['job', 0, 50],
      ['attempt', 0, 50],
      ['send', 0, 2],
      ['ack', 2, 5],
      ['run', 5, 50],
    ]);
  });

  it('name the stages of a job that does some of the work', () => {
    const stagesOf = (stages?: readonly Stage[]) => {
      const job = settledJob({});
      return jobSpans({ ...job, spec: { ...job.spec, stages } })[0]?.attributes['lingua.stages'];
    };
    expect([stagesOf(['asr', 'semantic']), stagesOf()]).toEqual(['asr+semantic', undefined]);
  });

  it('show each wait for a node and the error of each attempt', () => {
    const lines: Line[] = [
      ['CREATED', 0, 0],
      ['RESERVED', 10, 1, 'a'],
      ['DISPATCHED', 12, 1, 'a'],
      ['RETRYING', 30, 1, 'a', 'ACK_TIMEOUT'],
      ['RESERVED', 45, 2, 'b'],
      ['DISPATCHED', 46, 2, 'b'],
      ['RUNNING', 47, 2, 'b'],
      ['FAILED', 60, 2, 'b', 'PROCESSING_ERROR'],
    ];
    expect(spansOf(lines, 'PROCESSING_ERROR')).toEqual([
      ['job', 0, 60, 'PROCESSING_ERROR'],
      ['wait', 0, 10],
      ['wait', 30, 45],
      ['attempt', 10, 30, 'ACK_TIMEOUT'],
      ['send', 10, 12],
      ['ack', 12, 30],
      ['attempt', 45, 60, 'PROCESSING_ERROR'],
      ['send', 45, 46],
      ['ack', 46, 47],
      ['run', 47, 60],
    ]);
  });

  it('end an abandoned attempt when it was abandoned, not when the job fails', () => {
    const lines: Line[] = [
      ['CREATED', 0, 0],
      ['RESERVED', 0, 1, 'a'],
      ['DISPATCHED', 1, 1, 'a'],
      ['RETRYING', 20, 1, 'a', 'ACK_TIMEOUT'],
      ['FAILED', 90, 1, 'a', 'JOB_TIMEOUT'],
    ];
    const spans = spansOf(lines, 'JOB_TIMEOUT');
    expect(spans).toContainEqual(['attempt', 0, 20, 'ACK_TIMEOUT']);
    expect(spans).toContainEqual(['wait', 20, 90]);
  });

  it('extend an abandoned attempt whose node still reports a result', () => {
    const lines: Line[] = [
      ['CREATED', 0, 0],
      ['RESERVED', 0, 1, 'a'],
      ['DISPATCHED', 1, 1, 'a'],
      ['RETRYING', 20, 1, 'a', 'ACK_TIMEOUT'],
      ['RUNNING', 25, 1, 'a'],
      ['FINISHED', 30, 1, 'a'],
    ];
    expect(spansOf(lines)).toContainEqual(['attempt', 0, 30]);
  });

  it('count the whole time as work if the node never acknowledges', () => {
    const lines: Line[] = [
      ['CREATED', 0, 0],
      ['RESERVED', 0, 1, 'a'],
      ['DISPATCHED', 2, 1, 'a'],
      ['RUNNING', 50, 1, 'a'],
      ['FINISHED', 50, 1, 'a'],
    ];
    expect(spansOf(lines)).toEqual(
      expect.arrayContaining([
        ['ack', 2, 2],
        ['run', 2, 50],
      ]),
    );
  });

  it('are only the job and a wait if no node was found', () => {
    expect(
      spansOf(
        [
          ['CREATED', 0, 0],
          ['FAILED', 9, 0],
        ],
        'JOB_CANCELLED',
      ),
    ).toEqual([
      ['job', 0, 9, 'JOB_CANCELLED'],
      ['wait', 0, 9],
    ]);
  });
});

describe('trace ids and span ids', () => {
  it('keep W3C trace ids unchanged and hash any other text', () => {
    const given = '4BF92F3577B34DA6A3CE929D0E0E4736';
    expect(traceIdOf(given)).toBe(given.toLowerCase());
    // printf %s ticket-17 | sha256sum
    expect(traceIdOf('ticket-17')).toBe('c4b93dad7a6cb988bb4eec31de98972a');
    expect(traceIdOf('0'.repeat(32))).not.toBe('0'.repeat(32));
    expect(traceIdOf('')).toMatch(/^[0-9a-f]{32}$/);
    expect(spanIdOf('attempt', 'job-1', 1)).toMatch(/^[0-9a-f]{16}$/);
    expect(spanIdOf('attempt', 'job-1', 1)).not.toBe(spanIdOf('attempt', 'job-1', 2));
  });

  it('decide alone whether a trace is in the sample', () => {
    const ids = Array.from({ length: 2_000 }, (_, at) => traceIdOf(`trace ${at}`));
    const part = ids.filter((id) => isSampled(id, 0.25)).length / ids.length;
    expect(part).toBeGreaterThan(0.2);
    expect(part).toBeLessThan(0.3);
    expect(ids.every((id) => isSampled(id, 1))).toBe(true);
    expect([...ids, 'f'.repeat(32)].some((id) => isSampled(id, 0))).toBe(false);
  });
});
