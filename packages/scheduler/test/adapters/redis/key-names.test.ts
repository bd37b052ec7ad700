/** Names of keys: operators and tools read them in Redis, so they are a contract. */
import { expect, it } from 'vitest';
import { KEY_TABLE } from '../../../src/adapters/redis/connection/key-table.ts';
import { createKeys, type Keys } from '../../../src/adapters/redis/keys.ts';
import { keyPattern } from '../../../src/cli/docs/print-redis-keys.ts';

it('I8 one slot per script: an inbox and its dead letters share a hash slot', () => {
  const keys = createKeys('lingua');
  expect(keys.deadLetters('i-1')).toContain('{instance:i-1}');
  expect(keys.inbox('i-1')).toContain('{instance:i-1}');
});

it('keys keep their documented names', () => {
  const keys = createKeys('lingua');
  expect({
    presence: keys.presence('i-1'),
    death: keys.death('i-1'),
    instances: keys.instances,
    inbox: keys.inbox('i-1'),
    deadLetters: keys.deadLetters('i-1'),
    sessionOwner: keys.sessionOwner('s-1'),
    nodeMeta: keys.nodeMeta('n-1'),
    nodeCapabilities: keys.nodeCapabilities('n-1'),
    nodePresence: keys.nodePresence('n-1'),
    nodeOwner: keys.nodeOwner('n-1'),
    nodeLeases: keys.nodeLeases('n-1'),
    job: keys.job('j-1'),
    statsSnapshot: keys.statsSnapshot,
  }).toEqual({
    presence: 'lingua:schedulers:presence:i-1',
    death: '{lingua:schedulers:presence:i-1}:dead',
    instances: 'lingua:schedulers:all',
    inbox: 'lingua:streams:{instance:i-1}:inbox',
    deadLetters: 'lingua:streams:{instance:i-1}:dlq',
    sessionOwner: 'lingua:sessions:owner:{session:s-1}',
    nodeMeta: 'lingua:v1:nodes:{node:n-1}:meta',
    nodeCapabilities: 'lingua:v1:nodes:{node:n-1}:capabilities',
    nodePresence: 'lingua:v1:nodes:{node:n-1}:presence',
    nodeOwner: 'lingua:nodes:owner:{node:n-1}',
    nodeLeases: 'lingua:v1:nodes:{node:n-1}:reserved',
    job: 'lingua:v1:jobs:{job:j-1}:fsm',
    statsSnapshot: 'lingua:v1:stats:snapshot',
  });
});

it('docs/redis-keys.md states the hash tag that each key has', () => {
  const tags = {
    '{node}': '{node:',
    '{job}': '{job:',
    '{session}': '{session:',
    '{room}': '{room:',
    '{tenant}': '{tenant:',
    '{instance}': '{instance:',
  };
  for (const name of Object.keys(KEY_TABLE) as (keyof Keys)[]) {
    const { slot } = KEY_TABLE[name];
    const pattern = keyPattern(name, 'lingua');
    if (slot === 'own') expect([name, pattern.includes('{')]).toEqual([name, false]);
    else if (slot === '{presence}') expect(pattern).toContain(`{${keyPattern('presence', 'lingua')}}`);
    else expect([name, pattern.includes(tags[slot])]).toEqual([name, true]);
  }
});
