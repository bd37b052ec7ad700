/** The job of an utterance gets a new id while its session is released: no other instance knows that id. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from '../support/instances-rig.ts';
import { createRecordingLink } from '../support/recording-link.ts';
import { opening } from '../support/session-rig.ts';

/** b owns the session; a still waits for the outcome of its second dispatch. */
async function letGoWhileAsked(requestId?: string) {
  const rig = createInstancesRig();
  const [a, b] = [rig.instance('a'), rig.instance('b')];
  const link = createRecordingLink();
  const opened = await a.service.open(opening(), link);
  const sessionId = opened.kind === 'opened' ? opened.sessionId : '';
  const audio = Buffer.from('one');
  a.service.receive(sessionId, 'anybody', { kind: 'chunk', seq: 0, audio, isFinal: true, requestId });
  await rig.clock.advance(500);
  rig.jobs.pendingRequest('one').refuse('SCHEDULER_DEPENDENCY_DOWN');
  await rig.clock.advance(500);
  const resume = { sessionId, token: link.token() ?? '' };
  const coming = b.service.open(opening({ resume }), createRecordingLink());
  await rig.clock.advance(2_000);
  expect(await coming).toMatchObject({ kind: 'opened', sessionId });
  return rig;
}

describe('a job that gets a new id after the release of its session', () => {
  it('a job that the new owner cannot find is cancelled', async () => {
    const rig = await letGoWhileAsked();
    rig.jobs.pendingRequest('one').answer();
    await rig.quiet();
    expect(rig.jobs.cancelled).toEqual([rig.jobs.job('one').jobId]);
  });

  it('a job with a request id continues: a resend finds it', async () => {
    const rig = await letGoWhileAsked('r-1');
    rig.jobs.pendingRequest('one').answer();
    await rig.quiet();
    expect([rig.jobs.job('one').record.state, rig.jobs.cancelled]).toEqual(['DISPATCHED', []]);
  });

  it('a conflicting request makes no job after the release', async () => {
    const rig = await letGoWhileAsked('r-1');
    rig.jobs.pendingRequest('one').refuse('IDEMPOTENCY_CONFLICT');
    await rig.quiet();
    expect([rig.jobs.pendingRequests, rig.jobs.jobs]).toEqual([[], []]);
  });
});

it('a session that was released unsaved is not written any more', async () => {
  const rig = createInstancesRig();
  const a = rig.instance('a');
  const link = createRecordingLink();
  const opened = await a.service.open(opening(), link);
  const sessionId = opened.kind === 'opened' ? opened.sessionId : '';
  const audio = Buffer.from('one');
  a.service.receive(sessionId, 'anybody', { kind: 'chunk', seq: 0, audio, isFinal: true });
  await rig.clock.advance(500);
  a.store.plan({ method: 'save', fault: 'throw' });
  const letGo = a.service.release(sessionId);
  await rig.clock.advance(5_000);
  expect(await letGo).toBe(false);
  a.store.heal();
  const before = a.store.calls('save');
  rig.jobs.pendingRequest('one').answer();
  await rig.clock.advance(60_000);
  expect([a.store.calls('save') - before, rig.clock.pending()]).toEqual([0, 0]);
});
