/** On virtual time: an instance that drives jobs, another that holds the only node, and the node, whose reports the test sends. */
import type { JobAssign, SchedulerToNode } from '@lingua/protocol';
import { expect } from 'vitest';
import {
  simulatedCapabilities,
  simulatedResources,
} from '../../../scheduler/dist/cli/simulated-node/simulated-capabilities.js';
import { loadConfig } from '../../../scheduler/dist/config/load-config.js';
import { createMachine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../../scheduler/dist/plan/kernel/seeded-chance.js';
import { createVirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import { QUIET } from '../../../scheduler/test/cluster/messaging/message-bus-rig.ts';
import { heartbeat, jobResult, register } from '../../../scheduler/test/transport/ws/messages.ts';
import { createSimulatedInstance, type SimulatedInstance } from '../../src/instance/simulated-instance.ts';
import { createNetwork } from '../../src/net/network.ts';
import type { WireEnd } from '../../src/net/wire.ts';
import { NO_METER } from '../../src/run-simulation.ts';
import { createSimulatedStore } from '../../src/store/simulated-store.ts';
import { storeSettings } from '../../src/store/store-settings.ts';

const BODY = { session_id: 's-1', src_lang: 'en', tgt_lang: 'zh', audio: 'AAAA' };
/** So many that they are not all taken over at once. */
export const JOBS = 100;
const ABOUT = { node_id: 'node-1', supports: ['job_ack', 'audio_ref'], max_concurrent_jobs: JOBS };

function configOf(instanceId: string) {
  const text = `
[scheduler]
fleet_warmup_ms = 0
[scheduler.cluster]
enabled = true
instance_id = "${instanceId}"`;
  const loaded = loadConfig({ toml: { text, path: 'test.toml' } });
  if (loaded.kind !== 'ok') throw new Error('a test with a wrong configuration');
  return loaded.config;
}

export async function startDriverAndHolder() {
  const time = createVirtualTime();
  const network = createNetwork({ time, chance: seededChance('network') });
  const settings = storeSettings(configOf('any'));
  const store = createSimulatedStore({ time, chance: seededChance('store'), settings });
  const heard: SchedulerToNode[] = [];
  let end: WireEnd | undefined;
  let starts = 0;

  const pass = (ms: number): Promise<void> => time.runUntil(time.now() + ms);
  const say = (message: object): void => void end?.send(JSON.stringify(message));
  const assigned = (): JobAssign[] =>
    heard.flatMap((message) => (message.type === 'job_assign' ? [message] : []));

  function start(name: string): SimulatedInstance {
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
  await pass(1_000);
  network.connect(createMachine({ time, name: 'node' }), holder.machine, holder.acceptNode, (opened) => {
    end = opened;
    opened?.listen({ text: (text) => heard.push(JSON.parse(text)), closed() {} });
    say(register({ ...ABOUT, ...simulatedCapabilities(['en', 'zh'], false) }));
    say(heartbeat('node-1', { resource_usage: simulatedResources(0, JOBS) }));
  });
  await pass(1_000);

  return {
    pass,
    start,
    assigned,
    async dispatchAll(): Promise<void> {
      for (let count = 0; count < JOBS; count++) void driver.dispatch(BODY);
      await pass(100);
      expect(assigned()).toHaveLength(JOBS);
    },
    kill(): void {
      driver.machine.kill();
      network.cutOff(driver.machine, 'killed');
    },
    /** The node acknowledges and finishes every job it has. */
    finishAll(): void {
      for (const { job_id } of assigned()) {
        say({ ...jobResult('node-1', { job_id }), type: 'job_ack' });
        say(jobResult('node-1', { job_id }));
      }
    },
    /** The states of the jobs, as the survivor reads them. */
    async translations(): Promise<readonly (string | undefined)[]> {
      const looked = assigned().map(({ job_id }) => holder.settled(job_id, 0));
      await pass(100);
      return (await Promise.all(looked)).map((job) => job?.result?.textTranslated);
    },
  };
}
