/** Several instances that send messages to each other, on stores in memory, each with an inbox reader and a stepped clock. */
import { createInboxReader } from '../../../src/cluster/messaging/inbox-reader.ts';
import { createMessageBus, laneOf } from '../../../src/cluster/messaging/message-bus.ts';
import type { Inbox } from '../../../src/ports/inbox.ts';
import type { Instance } from '../../../src/ports/instances.ts';
import type { Log } from '../../../src/ports/log.ts';
import type { Labels, Meter } from '../../../src/ports/meter.ts';
import { faulty } from '../../support/faulty.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { about } from '../membership/presence-rig.ts';
import { SETTINGS } from './inbox-reader-rig.ts';

export const QUIET: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** A little longer than an unhandled message waits for its next delivery. */
export const COMES_AGAIN_MS = SETTINGS.idleMs + 2 * SETTINGS.scanIntervalMs;
/** Long enough for messages and replies, far shorter than any limit. */
export const POST_MS = 10;

const LIVES_MS = 3_600_000;
const MAX_DELIVERIES = 3;

/** Counted metrics, by name and labels: "name", or "name label". */
export function createTally() {
  const counts = new Map<string, number>();
  const keyOf = (name: string, labels: Labels = {}): string => [name, ...Object.values(labels)].join(' ');
  const meter: Meter = {
    count(name, labels, by = 1) {
      const key = keyOf(name, labels);
      counts.set(key, (counts.get(key) ?? 0) + by);
    },
    gauge() {},
    observe() {},
  };
  return { meter, counted: (key: string): number => counts.get(key) ?? 0 };
}

export function startMessaging({ maxMessages = 1_000 } = {}) {
  const {
    clock,
    store: { inbox, instances },
  } = createTestCluster({
    settings: { inbox: { maxMessages, maxDeliveries: MAX_DELIVERIES, maxDead: 100, maxDeadOfTenant: 100 } },
  });
  const sent: { readonly to: string; readonly text: string }[] = [];
  const noting: Inbox = {
    ...inbox,
    async send(to, text) {
      const answer = await inbox.send(to, text);
      if (answer === 'sent') sent.push({ to, text });
      return answer;
    },
  };

  /** `isReading`: false: no reader takes messages of its inbox. */
  async function join(instanceId: string, { incarnation = `${instanceId}-1`, isReading = true } = {}) {
    const self: Instance = { ...about(instanceId), incarnation };
    const state = { isFenced: false, looks: 0, whileLooking: () => {} };
    const connection = faulty(noting, [], clock);
    const { meter, counted } = createTally();
    let asks = 0;
    async function living(): Promise<ReadonlyMap<string, Instance>> {
      state.looks += 1;
      const found = await instances.living(await instances.all());
      state.whileLooking();
      return found;
    }
    const bus = createMessageBus({
      inbox: connection.port,
      clock,
      meter,
      self: () => self,
      isFenced: () => state.isFenced,
      living,
      newReplyId: () => `${instanceId}:${++asks}`,
    });
    const reader = createInboxReader({
      instanceId,
      inbox,
      clock,
      log: QUIET,
      meter,
      settings: SETTINGS,
      laneOf,
      handle: bus.receive,
      isFenced: () => state.isFenced,
    });
    await instances.announce(self, LIVES_MS);
    await inbox.open(instanceId);
    if (isReading) reader.start();
    return {
      self,
      driver: `${instanceId}/${incarnation}`,
      bus,
      state,
      connection,
      meter,
      counted,
      living,
      /** Its process ends: its inbox is not read any more, and every instance knows. */
      async die(): Promise<void> {
        void reader.stop();
        await instances.leave(self);
      },
    };
  }

  return {
    clock,
    inbox,
    instances,
    sent,
    join,
    /** Lets messages that are under way arrive, and their replies. */
    settle: (): Promise<void> => clock.advance(POST_MS),
    isEmpty: async (instanceId: string): Promise<boolean> => (await inbox.size(instanceId)).messages === 0,
  };
}

export type Messaging = ReturnType<typeof startMessaging>;
export type MessagingInstance = Awaited<ReturnType<Messaging['join']>>;
