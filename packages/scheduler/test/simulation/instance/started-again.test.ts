/** A driver that is killed and started again under its own name while its name is still taken: what nodes of others said meanwhile is heard. */
import type { SchedulerToNode } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.ts';
import {
  simulatedCapabilities,
  simulatedResources,
} from '../../../src/simulation/fleet/simulated-capabilities.ts';
import { NO_METER } from '../../../src/simulation/instance/no-meter.ts';
import { createSimulatedInstance } from '../../../src/simulation/instance/simulated-instance.ts';
import { createMachine } from '../../../src/simulation/kernel/machine.ts';
import { seededChance } from '../../../src/simulation/kernel/seeded-chance.ts';
import { createVirtualTime } from '../../../src/simulation/kernel/virtual-time.ts';
import { createNetwork } from '../../../src/simulation/net/network.ts';
import type { WireEnd } from '../../../src/simulation/net/wire.ts';
import { createSimulatedStore } from '../../../src/simulation/store/simulated-store.ts';
import { storeSettings } from '../../../src/simulation/store/store-settings.ts';
import { QUIET } from '../../cluster/post-rig.ts';
import { heartbeat, jobResult, register } from '../../transport/ws/messages.ts';

const BODY = { session_id: 's-1', src_lang: 'en', tgt_lang: 'zh', audio: 'AAAA' };
/** So many that they are not taken over at once. */
const JOBS = 100;
/** Of one that was killed right after it had renewed it, and until its next life looks again. */
const NAME_IS_TAKEN_MS = 4_500;
const ABOUT = { node_id: 'node-1', supports: ['job_ack', 'audio_ref'], max_concurrent_jobs: JOBS };
/** Far less than a letter that could not be handled lies until it comes again. */
const HEARD_MS = 500;

function configOf(instanceId: string) {
  const text = `
[scheduler]
fleet_warmup_ms = 0
[scheduler.phase2]
enabled = true
instance_id = "${instanceId}"`;
  const loaded = loadConfig({ toml: { text, path: 'test.toml' } });
  if (loaded.kind !== 'ok') throw new Error('a test with a wrong configuration');
  return loaded.config;
}

/** A driver, and another instance that holds the one node. */
async function startTwo() {
  const time = createVirtualTime();
  const network = createNetwork({ time, chance: seededChance('network') });
  const settings = storeSettings(configOf('any'));
  const store = createSimulatedStore({ time, chance: seededChance('store'), settings });
  let starts = 0;
  function start(name: string) {
    starts += 1;
    const machine = createMachine({ time, name });
    const instance = createSimulatedInstance({
      machine,
      config: configOf(name),
      seed: `${starts}`,
      log: QUIET,
      meter: NO_METER,
      shared: store.storeFor(machine),
      fetcher: { fetch: async () => undefined },
    });
    void instance.start();
    return instance;
  }
  const [driver, holder] = [start('driver'), start('holder')];
  const pass = (ms: number): Promise<void> => time.runUntil(time.now() + ms);
  await pass(1_000);
  const heard: SchedulerToNode[] = [];
  let end: WireEnd | undefined;
  network.connect(createMachine({ time, name: 'node' }), holder.machine, holder.acceptNode, (opened) => {
    end = opened;
    opened?.listen({ text: (text) => heard.push(JSON.parse(text)), closed() {} });
    say(register({ ...ABOUT, ...simulatedCapabilities(['en', 'zh'], false) }));
    say(heartbeat('node-1', { resource_usage: simulatedResources(0, JOBS) }));
  });
  const say = (message: object): void => void end?.send(JSON.stringify(message));
  return {
    pass,
    start,
    driver,
    holder,
    heard,
    say,
    kill() {
      driver.machine.kill();
      network.cutOff(driver.machine, 'killed');
    },
  };
}

it.each([0, 500, 1_000, 1_500, 2_000])(
  'hears of its jobs as soon as it is there, killed %i ms after they were sent',
  async (afterMs) => {
    const { pass, start, driver, holder, heard, say, kill } = await startTwo();
    await pass(1_000);
    for (let count = 0; count < JOBS; count++) void driver.dispatch(BODY);
    await pass(100);
    const assigned = heard.flatMap((message) => (message.type === 'job_assign' ? [message] : []));
    expect(assigned).toHaveLength(JOBS);
    await pass(afterMs);
    kill();
    for (const { job_id } of assigned) {
      say({ ...jobResult('node-1', { job_id }), type: 'job_ack' });
      say(jobResult('node-1', { job_id }));
    }
    await pass(1_000);
    start('driver');
    await pass(NAME_IS_TAKEN_MS - 1_000 + HEARD_MS);
    const looked = assigned.map(({ job_id }) => holder.settled(job_id, 0));
    await pass(100);
    const translated = (await Promise.all(looked)).map((job) => job?.result?.textTranslated);
    expect(translated).toEqual(assigned.map(() => 'hallo'));
    expect(heard.filter(({ type }) => type === 'job_assign')).toHaveLength(JOBS);
  },
);
