/** A client that has sent one utterance to instance a and can move to another one. */
import type { InstancesRig } from './instances-rig.ts';
import { createMovingClient, type MovingClient } from './moving-client.ts';

export async function speaking(rig: InstancesRig, how = {}): Promise<MovingClient> {
  rig.jobs.answerAll();
  const client = createMovingClient(how);
  await client.connect(rig.instance('a'));
  client.say('one');
  client.end();
  client.pump();
  await rig.quiet();
  return client;
}

/** A newer connection of the same client, while the old one looks open. */
export async function connectTo(rig: InstancesRig, client: MovingClient, name: string): Promise<string> {
  const connecting = client.connect(rig.instance(name));
  await rig.clock.advance(2_000);
  return connecting;
}
