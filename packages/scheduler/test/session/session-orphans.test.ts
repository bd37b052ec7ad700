/** An utterance is asked for under a new name just when its session is let go: nobody else knows that name. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig } from './instances-rig.ts';
import { createRecordingLink } from './recording-link.ts';
import { opening } from './session-rig.ts';

/** Its session is with b; a is about to be told what became of it, which it had to ask twice for. */
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

describe('a job that is recorded under a new name after its session was let go', () => {
  it('is cancelled where it was asked for if nothing leads others to it', async () => {
    const rig = await letGoWhileAsked();
    rig.jobs.pendingRequest('one').answer();
    await rig.quiet();
    expect(rig.jobs.cancelled).toEqual([rig.jobs.job('one').jobId]);
  });

  it('goes on if its request does: sent again, that finds it', async () => {
    const rig = await letGoWhileAsked('r-1');
    rig.jobs.pendingRequest('one').answer();
    await rig.quiet();
    expect([rig.jobs.job('one').record.state, rig.jobs.cancelled]).toEqual(['DISPATCHED', []]);
  });

  it('is not made at all of other audio under a request that is taken', async () => {
    const rig = await letGoWhileAsked('r-1');
    rig.jobs.pendingRequest('one').refuse('IDEMPOTENCY_CONFLICT');
    await rig.quiet();
    expect([rig.jobs.pendingRequests, rig.jobs.jobs]).toEqual([[], []]);
  });
});

it('nothing is written any more of a session that was let go unsaved, whatever is heard of its utterances', async () => {
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
