/** A reader of an inbox in memory, with time that is stepped. */
import { createInboxReader, type InboxReaderSettings } from '../../../src/cluster/messaging/inbox-reader.ts';
import type { Inbox } from '../../../src/ports/inbox.ts';
import { createTestCluster } from '../../support/test-cluster.ts';

export const SETTINGS: InboxReaderSettings = {
  maxMessages: 10,
  waitMs: 1_000,
  scanIntervalMs: 5_000,
  scanCount: 100,
  idleMs: 5_000,
  watchdogMs: 3_000,
};

export const fine = async (): Promise<void> => {};

/** Messages are "lane:text". */
export async function startReader(
  handle: (body: string, wasOpened: boolean) => Promise<void>,
  options: {
    wrap?: (inbox: Inbox) => Inbox;
    settings?: Partial<InboxReaderSettings>;
    laneOf?: (body: string) => string;
    isFenced?: () => boolean;
  } = {},
) {
  const {
    clock,
    store: { inbox },
  } = createTestCluster({
    settings: { inbox: { maxMessages: 10_000, maxDeliveries: 3, maxDead: 10, maxDeadOfTenant: 10 } },
  });
  await inbox.open('me');
  const counts = new Map<string, number>();
  const warnings: string[] = [];
  const seen: string[] = [];
  let stuck = 0;
  const reader = createInboxReader({
    instanceId: 'me',
    inbox: (options.wrap ?? ((inner) => inner))(inbox),
    clock,
    log: { debug() {}, info() {}, warn: (_, message) => void warnings.push(message), error() {} },
    meter: {
      count: (name, _labels, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
      gauge() {},
      observe() {},
    },
    settings: { ...SETTINGS, ...options.settings },
    laneOf: options.laneOf ?? ((body) => body.split(':')[0] ?? ''),
    handle: async (body, wasOpened) => {
      seen.push(body);
      await handle(body, wasOpened);
    },
    ...(options.isFenced !== undefined && { isFenced: options.isFenced }),
    stuck: () => {
      stuck += 1;
    },
  });
  reader.start();
  await clock.advance(0);
  const send = async (...bodies: string[]): Promise<void> => {
    for (const body of bodies) await inbox.send('me', body);
    await clock.advance(0);
  };
  const isEmpty = async (): Promise<boolean> => {
    const { messages, dead } = await inbox.size('me');
    return messages === 0 && dead === 0;
  };
  return { clock, inbox, reader, seen, counts, warnings, send, isEmpty, stuck: () => stuck };
}
