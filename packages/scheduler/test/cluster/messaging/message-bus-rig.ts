/** Several instances that write messages to one another, on stores in memory, each with an inbox that is read, and time that is stepped. */
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

/** How long a message that was not handled lies before it comes again, and a bit. */
export const COMES_AGAIN_MS = SETTINGS.idleMs + 2 * SETTINGS.scanIntervalMs;
/** Long enough for messages to go to and fro, far shorter than any limit. */
export const POST_MS = 10;

const LIVES_MS = 3_600_000;
const MAX_DELIVERIES = 3;

/** What was counted, by name and labels: "name", or "name label". */
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

export function startPost({ maxMessages = 1_000 } = {}) {
  const {
    clock,
    store: { inbox, instances },
  } = createTestCluster({
    settings: { inbox: { maxMessages, maxDeliveries: MAX_DELIVERIES, maxDead: 100 } },
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
    const way = faulty(noting, [], clock);
    const { meter, counted } = createTally();
    let asks = 0;
    async function living(): Promise<ReadonlyMap<string, Instance>> {
      state.looks += 1;
      const found = await instances.living(await instances.all());
      state.whileLooking();
      return found;
    }
    const bus = createMessageBus({
      inbox: way.port,
      clock,
      meter,
      self: () => self,
      isFenced: () => state.isFenced,
      living,
      newAskId: () => `${instanceId}:${++asks}`,
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
      way,
      meter,
      counted,
      living,
      /** Its process ends at once: nobody reads its inbox any more, and everybody knows. */
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

export type Post = ReturnType<typeof startPost>;
export type PostedInstance = Awaited<ReturnType<Post['join']>>;
