/** The adapters of one process obey the contracts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createAudioStore } from '../../src/adapters/memory/audio-store.ts';
import { createCapacityLedger } from '../../src/adapters/memory/capacity-ledger.ts';
import { createGlossaryStore } from '../../src/adapters/memory/glossary-store.ts';
import { createJobEvents } from '../../src/adapters/memory/job-events.ts';
import { createJobStore } from '../../src/adapters/memory/job-store.ts';
import { createLocks } from '../../src/adapters/memory/locks.ts';
import { createNodeIdClaims } from '../../src/adapters/memory/node-id-claims.ts';
import { createNodeMailbox } from '../../src/adapters/memory/node-mailbox.ts';
import { createRoomLog } from '../../src/adapters/memory/room-log.ts';
import { createRoomRecords } from '../../src/adapters/memory/room-records.ts';
import { createUsageStore } from '../../src/adapters/memory/usage-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createIdSource } from '../../src/adapters/system/id-source.ts';
import { createSleepCountingClock } from '../../src/adapters/system/sleep-counting-clock.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { audioStoreContract } from './audio-store.ts';
import { capacityLedgerContract } from './capacity-ledger.ts';
import { clockContract } from './clock.ts';
import { glossaryStoreContract } from './glossary-store.ts';
import { idSourceContract } from './id-source.ts';
import { jobEventsContract } from './job-events.ts';
import { jobEventsAcrossContract } from './job-events-across.ts';
import { jobStoreContract } from './job-store.ts';
import { locksContract } from './locks.ts';
import { nodeIdClaimsContract } from './node-id-claims.ts';
import { type InboxMessage, nodeMailboxContract } from './node-mailbox.ts';
import { roomFollowersContract } from './room-followers.ts';
import { LOG_LIMITS, roomLogContract } from './room-log.ts';
import { roomRecordsContract } from './room-records.ts';
import { RETENTION_DAYS, usageStoreContract } from './usage-store.ts';

const ROOMY = {
  bindingLeaseMs: 60_000,
  retentionMs: 300_000,
  maxRetained: 10_000,
  maxRetainedBytes: 64_000_000,
  maxInflight: 10_000,
  maxBindings: 10_000,
};

function stepped() {
  const clock = createManualClock();
  const harness = { advance: clock.advance, edgeMs: 1, now: clock.now, close: async () => undefined };
  return { clock, harness };
}

capacityLedgerContract('memory', async () => {
  const { clock, harness } = stepped();
  return { ...harness, ledger: createCapacityLedger({ clock }) };
});

jobStoreContract('memory', async (limits) => {
  const { clock, harness } = stepped();
  return { ...harness, store: createJobStore({ clock, ...limits }) };
});

nodeIdClaimsContract('memory', async (limits) => ({
  ...stepped().harness,
  nodeIdClaims: createNodeIdClaims(limits),
}));

nodeMailboxContract('memory', async (limits) => {
  const { clock, harness } = stepped();
  const ledger = createCapacityLedger({ clock });
  return {
    ...harness,
    ledger,
    mailbox: createNodeMailbox<InboxMessage>({ clock, ledger, ...limits }),
  };
});

audioStoreContract('memory', async (limits) => ({ ...stepped().harness, store: createAudioStore(limits) }));

jobEventsContract('memory', async (limits) => ({ ...stepped().harness, events: createJobEvents(limits) }));

jobEventsAcrossContract('memory, where both are one', async () => {
  const instance = {
    store: createJobStore({ clock: systemClock, ...ROOMY }),
    events: createJobEvents({ maxListeners: 100 }),
  };
  const advance = async (ms: number) => void (await sleep(ms));
  return { clock: systemClock, advance, here: instance, there: instance, close: async () => undefined };
});

clockContract('stepped', async () => {
  const { clock, harness } = stepped();
  return { ...harness, clock };
});

clockContract('system', async () => ({
  clock: systemClock,
  // Timers may fire up to a millisecond early by the other clock.
  advance: async (ms) => void (await sleep(ms + 5)),
  close: async () => undefined,
}));
clockContract('system, counting sleep', async () => ({
  clock: createSleepCountingClock(),
  // Timers may fire up to a millisecond early by the other clock.
  advance: async (ms) => void (await sleep(ms + 5)),
  close: async () => undefined,
}));

idSourceContract('system', async () => {
  const { clock, harness } = stepped();
  return {
    ...harness,
    ids: createIdSource({ clock, digestsRequests: true }),
    restart: () => createIdSource({ clock, digestsRequests: true }),
  };
});

locksContract('memory', async () => {
  const clock = createManualClock();
  const timed = { advance: clock.advance, edgeMs: 1, close: async () => undefined };
  return { ...timed, locks: createLocks({ clock }), others: createLocks({ clock }) };
});

glossaryStoreContract('memory', async () => ({
  store: createGlossaryStore(),
  close: async () => undefined,
}));

usageStoreContract('memory', async () => {
  const { clock, harness } = stepped();
  const store = createUsageStore({ clock, retentionDays: RETENTION_DAYS, maxTenants: 100 });
  return { ...harness, store, other: store };
});

const openRooms = async (limits = LOG_LIMITS) => {
  const { clock, harness } = stepped();
  const { log, followers } = createRoomLog({ clock, ...limits });
  const records = createRoomRecords({ clock, followersOf: followers.of });
  return { ...harness, log, followers, records };
};
roomLogContract('memory', openRooms);
roomFollowersContract('memory', openRooms);
roomRecordsContract('memory', openRooms);
