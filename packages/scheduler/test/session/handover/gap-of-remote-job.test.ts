/** A gap whose job another instance drives: only the job record decides whether it is closed. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig, type InstancesRig } from '../support/instances-rig.ts';
import { createMovingClient, type MovingClient } from '../support/moving-client.ts';
import { SETTINGS } from '../support/session-rig.ts';

const { gapTimeoutMs, gapMaxMs } = SETTINGS.delivery;
const READ_INTERVAL_MS = 1_000;

/** Two utterances of a dead instance; the second has its result, the record of the first cannot be read. */
async function moved(
  first: 'runs' | 'is done' | 'is withdrawn',
  pendingTimeoutMs = SETTINGS.pendingTimeoutMs,
): Promise<{ rig: InstancesRig; client: MovingClient }> {
  const rig = createInstancesRig({ settings: { pendingTimeoutMs } });
  rig.jobs.answerAll();
  const client = createMovingClient();
  await client.connect(rig.instance('a'));
  for (const text of ['one', 'two']) {
    client.say(text);
    client.end();
    client.pump();
  }
  await rig.quiet();
  rig.kill('a');
  rig.jobs.hide('one', true);
  if (first === 'is done') rig.jobs.job('one').finish();
  if (first === 'is withdrawn') rig.jobs.job('one').withdraw();
  rig.jobs.job('two').finish();
  client.leave();
  const connecting = client.connect(rig.instance('b'));
  await rig.clock.advance(4_000);
  expect(await connecting).toBe('opened');
  return { rig, client };
}

describe('a gap of a remote job', () => {
  it('a gap stays open while the job record cannot be read', async () => {
    const { rig, client } = await moved('is done');
    await rig.clock.advance(2 * gapMaxMs);
    expect(client.received).toEqual([]);
    rig.jobs.hide('one', false);
    await rig.clock.advance(READ_INTERVAL_MS);
    expect(client.received).toEqual(['0:one', '1:two']);
    expect(rig.jobs.cancelled).toEqual([]);
  });

  it('a gap is closed after a read finds the job unfinished', async () => {
    const { rig, client } = await moved('runs');
    rig.jobs.hide('one', false);
    await rig.clock.advance(gapMaxMs - 4_000);
    expect(client.received).toEqual([]);
    await rig.clock.advance(4_000 + READ_INTERVAL_MS);
    expect(client.received).toEqual(['0!gap_timeout', '1:two']);
    expect(rig.jobs.cancelled).toEqual([rig.jobs.job('one').jobId]);
  });

  it('a gap is closed after a read finds no record', async () => {
    const { rig, client } = await moved('is withdrawn', 10 * gapTimeoutMs);
    rig.jobs.hide('one', false);
    await rig.clock.advance(gapTimeoutMs + READ_INTERVAL_MS);
    expect(client.received).toEqual(['0!gap_timeout', '1:two']);
  });
});
