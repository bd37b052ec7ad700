/** A message that cannot be handled becomes a dead letter with the default settings and with those of earlier configuration files. */
import { expect, it } from 'vitest';
import { inboxReaderSettings, inboxSettings } from '../../../src/app/settings/shared-settings.ts';
import { createInboxReader } from '../../../src/cluster/messaging/inbox-reader.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { createTally, QUIET } from './message-bus-rig.ts';

it.each([
  ['by default', ''],
  ['of earlier files', 'dlq_min_idle_ms = 60000'],
])('a message that always fails is dead after ten tries: settings %s', async (_, line) => {
  const loaded = loadConfig({ toml: { text: `[scheduler.cluster]\n${line}`, path: 'test.toml' } });
  if (loaded.kind !== 'ok') throw new Error('the configuration of the test is wrong');
  const { clock, store } = createTestCluster({ settings: { inbox: inboxSettings(loaded.config) } });
  const { inbox } = store;
  await inbox.open('me');
  let tries = 0;
  const reader = createInboxReader({
    instanceId: 'me',
    inbox,
    clock,
    log: QUIET,
    meter: createTally().meter,
    settings: inboxReaderSettings(loaded.config),
    laneOf: () => '',
    async handle() {
      tries += 1;
      throw new Error('never');
    },
  });
  reader.start();
  await inbox.send('me', 'poison');
  await clock.advance(180_000);
  expect([tries, await inbox.size('me')]).toEqual([10, { messages: 0, delivered: 0, dead: 1 }]);
  await reader.stop();
});
