/** HTTP heartbeats and orders for nodes that another instance holds. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { type MessageBus, Unsent } from '../../../src/cluster/messaging/message-bus.ts';
import { SchedulerError } from '../../../src/domain/errors.ts';
import type { NodeRecord } from '../../../src/ports/node-records.ts';
import type { HttpServices } from '../../../src/transport/http/server/http-services.ts';
import { createHolderForwarding } from '../../../src/transport/link/forward-to-holder.ts';

const SHEET = { nodeId: 'node-a', holder: { instanceId: 'other', incarnation: '1' } } as NodeRecord;
const BEAT = { node_id: 'node-a' };

const NOTHING = {
  ask: async () => ({ answers: new Map(), unreachable: [] }),
  usedSlots: () => undefined,
  recentAttempts: { of: () => [] },
  clock: systemClock,
  instanceId: 'self',
  answerMs: 1_000,
};

function holdersWith(request: MessageBus['request']) {
  return createHolderForwarding({
    bus: { request, on: () => {} },
    registry: {} as HttpServices['registry'],
    replica: { find: (nodeId) => (nodeId === SHEET.nodeId ? SHEET : undefined), all: () => [SHEET] },
    ...NOTHING,
  });
}

describe('a heartbeat of a node that another instance holds', () => {
  it('is sent to its holder, whose reply is returned', async () => {
    const asked: string[] = [];
    const holders = holdersWith(async (to, { topic }) => {
      asked.push(`${to} ${topic}`);
      return { kind: 'beat', health: 'ready' };
    });
    expect(await holders.beat(BEAT)).toEqual({ kind: 'beat', health: 'ready' });
    expect(asked).toEqual(['other node_beat']);
  });

  it('makes the node register again when its holder is gone', async () => {
    const holders = holdersWith(() => Promise.reject(new Unsent('other')));
    expect(await holders.beat(BEAT)).toEqual({ kind: 'unknown_node' });
  });

  it('fails when the holder does not reply', async () => {
    const silent = new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', 'no answer');
    await expect(holdersWith(() => Promise.reject(silent)).beat(BEAT)).rejects.toBe(silent);
  });
});

describe('a message to the holder of a node', () => {
  it.each(['node_beat', 'node_order'])('is refused when it was delivered before: %s', async (topic) => {
    const handlers = new Map<string, Parameters<MessageBus['on']>[1]>();
    const asked: string[] = [];
    createHolderForwarding({
      bus: { request: async () => undefined, on: (name, handle) => void handlers.set(name, handle) },
      registry: {
        get: () => void asked.push('get'),
        heartbeat: () => void asked.push('heartbeat'),
        setCordon: () => void asked.push('cordon'),
      } as unknown as HttpServices['registry'],
      replica: { find: () => undefined, all: () => [] },
      ...NOTHING,
    });
    const message = { ...BEAT, nodeId: 'node-a', command: 'cordon' };
    await expect(handlers.get(topic)?.(message, 'other', true)).rejects.toThrow('outdated');
    expect(asked).toEqual([]);
  });
});
