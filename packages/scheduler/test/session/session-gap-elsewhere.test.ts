/** A gap before results, where another instance drives the job that is missing: whether it is one only its record can say. */
import { describe, expect, it } from 'vitest';
import { createInstancesRig, type InstancesRig } from './instances-rig.ts';
import { createMovingClient, type MovingClient } from './moving-client.ts';
import { SETTINGS } from './session-rig.ts';

const { gapTimeoutMs } = SETTINGS.delivery;
const LOOK_MS = 1_000;

/** Two utterances of an instance that died; the second has its result, and the record of the first is not to be had. */
async function moved(
  first: 'runs' | 'is done' | 'is taken back',
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
  if (first === 'is taken back') rig.jobs.job('one').withdraw();
  rig.jobs.job('two').finish();
  client.leave();
  const connecting = client.connect(rig.instance('b'));
  await rig.clock.advance(4_000);
  expect(await connecting).toBe('opened');
  return { rig, client };
}

describe('a gap whose job another instance drives', () => {
  it('is not closed while nobody can say what became of the job: it may have been done for long', async () => {
    const { rig, client } = await moved('is done');
    await rig.clock.advance(3 * gapTimeoutMs);
    expect(client.heard).toEqual([]);
    rig.jobs.hide('one', false);
    await rig.clock.advance(LOOK_MS);
    expect(client.heard).toEqual(['0:one', '1:two']);
    expect(rig.jobs.cancelled).toEqual([]);
  });

  it('is closed in time by a look that finds it unfinished', async () => {
    const { rig, client } = await moved('runs');
    rig.jobs.hide('one', false);
    await rig.clock.advance(gapTimeoutMs - 4_000);
    expect(client.heard).toEqual([]);
    await rig.clock.advance(4_000 + LOOK_MS);
    expect(client.heard).toEqual(['0!gap_timeout', '1:two']);
    expect(rig.jobs.cancelled).toEqual([rig.jobs.job('one').jobId]);
  });

  it('is closed by a look that finds no record, also while one may yet come', async () => {
    const { rig, client } = await moved('is taken back', 10 * gapTimeoutMs);
    rig.jobs.hide('one', false);
    await rig.clock.advance(gapTimeoutMs + LOOK_MS);
    expect(client.heard).toEqual(['0!gap_timeout', '1:two']);
  });
});
