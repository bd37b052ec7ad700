/** What happens to an attempt besides success is one log line, with its ids and the reason. */
import { describe, expect, it } from 'vitest';
import { NO_RESULT } from '../../../src/domain/failure.ts';
import { createRig, need, RESULT, type Rig, SETTINGS } from '../rigs/rig.ts';

const IDS = { node_id: 'node-a', attempt_id: 1, trace_id: 'trace-1' };

const linesAbout = (rig: Rig, message: string) => rig.lines.filter((line) => line.message.includes(message));

async function rigWithJob() {
  const rig = createRig();
  await rig.addNode('node-a');
  const { jobId } = await rig.dispatch();
  return { rig, jobId };
}

describe('a log line with job_id, node_id, attempt_id, trace_id and reason', () => {
  it('an acknowledgement timeout is a warning, and its retry a line of its own', async () => {
    const { rig, jobId } = await rigWithJob();
    await rig.addNode('node-b');
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    const ids = { ...IDS, job_id: jobId };
    expect(linesAbout(rig, 'not acknowledged')).toEqual([
      { level: 'warn', message: 'a job was not acknowledged in time', ...ids, reason: 'ACK_TIMEOUT' },
    ]);
    expect(linesAbout(rig, 'a job is to be retried')).toMatchObject([{ level: 'info', ...ids }]);
  });

  it('a retry does not claim another node before one is known', async () => {
    const { rig, jobId } = await rigWithJob();
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    expect(await rig.state(jobId)).toBe('RETRYING');
    expect(linesAbout(rig, 'a job is to be retried')).toHaveLength(1);
    expect(linesAbout(rig, 'another node')).toEqual([]);
  });

  it('a failure that a node reported has its code as the reason', async () => {
    const { rig, jobId } = await rigWithJob();
    await rig.service.fail(rig.last(jobId), { code: 'PROCESSING_ERROR', message: 'spoken words' });
    expect(linesAbout(rig, 'reported a failure')).toEqual([
      {
        level: 'info',
        message: 'a node reported a failure',
        ...IDS,
        job_id: jobId,
        reason: 'PROCESSING_ERROR',
      },
    ]);
  });

  it('a job that a node left out of two heartbeats is no reported failure', async () => {
    const { rig, jobId } = await rigWithJob();
    const attempt = rig.last(jobId);
    await rig.service.fail(attempt, NO_RESULT);
    expect(linesAbout(rig, 'reported a failure')).toEqual([]);
    expect(linesAbout(rig, 'left a job out of two heartbeats')).toMatchObject([
      { level: 'info', ...IDS, job_id: jobId, reason: 'NO_RESULT' },
    ]);
  });

  it('a late answer has the trace of its job, also after the job has ended', async () => {
    const { rig, jobId } = await rigWithJob();
    const answer = rig.last(jobId);
    await rig.service.finish(answer, RESULT);
    await rig.service.finish(answer, RESULT);
    expect(linesAbout(rig, 'late result')).toMatchObject([
      { level: 'info', ...IDS, job_id: jobId, reason: 'settled' },
    ]);
  });

  it('a fallback from a preferred node names that node and what excluded it', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-full', 1);
    await rig.dispatch({ need: need({ preferredNodeId: 'node-full' }) });
    expect(linesAbout(rig, 'preferred node')).toEqual([]);
    const { jobId } = await rig.dispatch({ need: need({ preferredNodeId: 'node-full' }) });
    expect(linesAbout(rig, 'preferred node')).toMatchObject([
      { level: 'info', ...IDS, job_id: jobId, preferred_node_id: 'node-full', reason: 'capacity_exceeded' },
    ]);
  });
});
