/** The simulated store keeps the law of every port, as Redis does: therefore it can stand for Redis. */
import { createJobEvents as createLocalEvents } from '../../../scheduler/dist/adapters/memory/job-events.js';
import { systemClock } from '../../../scheduler/dist/adapters/system/clock.js';
import { createIdSource } from '../../../scheduler/dist/adapters/system/id-source.js';
import type { UsageStore } from '../../../scheduler/dist/ports/usage-store.js';
import { capacityLedgerContract } from '../../../scheduler/test/contracts/capacity-ledger.ts';
import { deadLettersContract } from '../../../scheduler/test/contracts/dead-letters.ts';
import { hintBusContract } from '../../../scheduler/test/contracts/hint-bus.ts';
import { inboxContract } from '../../../scheduler/test/contracts/inbox.ts';
import { instanceFiguresContract } from '../../../scheduler/test/contracts/instance-figures.ts';
import { instancesContract } from '../../../scheduler/test/contracts/instances.ts';
import { jobEventsContract } from '../../../scheduler/test/contracts/job-events.ts';
import { jobEventsAcrossContract } from '../../../scheduler/test/contracts/job-events-across.ts';
import { type JobStoreLimits, jobStoreContract } from '../../../scheduler/test/contracts/job-store.ts';
import { locksContract } from '../../../scheduler/test/contracts/locks.ts';
import { nodeIdClaimsContract } from '../../../scheduler/test/contracts/node-id-claims.ts';
import { type InboxMessage, nodeMailboxContract } from '../../../scheduler/test/contracts/node-mailbox.ts';
import { nodeRecordsContract } from '../../../scheduler/test/contracts/node-records.ts';
import { roomFollowersContract } from '../../../scheduler/test/contracts/room-followers.ts';
import { LOG_LIMITS, roomLogContract } from '../../../scheduler/test/contracts/room-log.ts';
import { roomRecordsContract } from '../../../scheduler/test/contracts/room-records.ts';
import { sessionStoreContract } from '../../../scheduler/test/contracts/session-store.ts';
import { statsStoreContract } from '../../../scheduler/test/contracts/stats-store.ts';
import { RETENTION_DAYS, usageStoreContract } from '../../../scheduler/test/contracts/usage-store.ts';
import { createCapacityLedger } from '../../src/store/capacity-ledger.ts';
import { createDeadLetters } from '../../src/store/dead-letters.ts';
import { createHintBus } from '../../src/store/hint-bus.ts';
import { createInbox } from '../../src/store/inbox.ts';
import { createInstances } from '../../src/store/instances.ts';
import { createJobEvents } from '../../src/store/job-events.ts';
import { createJobStore } from '../../src/store/job-store.ts';
import { createNodeIdClaims } from '../../src/store/node-id-claims.ts';
import { createNodeMailbox } from '../../src/store/node-mailbox.ts';
import { createNodeRecords } from '../../src/store/node-records.ts';
import { createFollowers, createRoomLog } from '../../src/store/rooms/room-log.ts';
import { createRoomRecords } from '../../src/store/rooms/room-records.ts';
import { createSessionStore } from '../../src/store/session-store.ts';
import { createInstanceFigures, createLocks, createStatsStore } from '../../src/store/short-lived.ts';
import { createUsageStore } from '../../src/store/usage-store.ts';
import { createVirtualRig } from './virtual-rig.ts';

const NAME = 'simulated';
const IDLE_MS = 3_600_000;
const ROOMY = {
  bindingLeaseMs: 60_000,
  retentionMs: 300_000,
  maxRetained: 10_000,
  maxRetainedBytes: 64_000_000,
  maxInflight: 10_000,
  maxBindings: 10_000,
  resultInlineMaxBytes: 512 * 1024,
  liveMarginMs: 60_000,
};
const { digest } = createIdSource({ clock: systemClock, digestsRequests: true });

type Rig = ReturnType<typeof createVirtualRig>;

function openInstance(
  rig: Rig,
  instanceId: string,
  limits: Partial<JobStoreLimits> = {},
  maxListeners = 100,
) {
  const machine = rig.machineOf(instanceId);
  const { clock } = machine;
  const lines = rig.lines(machine);
  const driver = () => `${instanceId}/1`;
  const store = createJobStore({ lines, clock, digest, instanceId, driver, ...ROOMY, ...limits });
  const local = createLocalEvents({ maxListeners });
  const events = createJobEvents({ lines, clock, instanceId, local, store });
  return { clock, store: rig.driven(store), events: rig.driven(events) };
}

capacityLedgerContract(NAME, async () => {
  const rig = createVirtualRig();
  return { ...rig.timed, ledger: rig.driven(createCapacityLedger({ lines: rig.lines(), idleMs: IDLE_MS })) };
});

nodeIdClaimsContract(NAME, async (limits) => {
  const rig = createVirtualRig();
  const { clock } = rig.machine;
  const nodeIdClaims = createNodeIdClaims({ lines: rig.lines(), clock, idleMs: IDLE_MS, ...limits });
  return { ...rig.timed, nodeIdClaims: rig.driven(nodeIdClaims) };
});

nodeMailboxContract(NAME, async (limits) => {
  const rig = createVirtualRig();
  const [lines, { clock }] = [rig.lines(), rig.machine];
  const mailbox = createNodeMailbox<InboxMessage>({ lines, clock, idleMs: IDLE_MS, ...limits });
  const ledger = rig.driven(createCapacityLedger({ lines, idleMs: IDLE_MS }));
  return { ...rig.timed, ledger, mailbox: rig.driven(mailbox) };
});

nodeRecordsContract(NAME, async (limits) => {
  const rig = createVirtualRig();
  const [here, there] = ['here', 'there'].map((name) =>
    rig.driven(createNodeRecords({ lines: rig.lines(rig.machineOf(name)), ...limits })),
  );
  if (here === undefined || there === undefined) throw new Error('two were asked for');
  return { ...rig.timed, here, there };
});

jobStoreContract(NAME, async (limits) => {
  const rig = createVirtualRig();
  return { ...rig.timed, store: openInstance(rig, 'instance-a', limits).store };
});

jobEventsContract(NAME, async ({ maxListeners }) => {
  const rig = createVirtualRig();
  return { ...rig.timed, events: openInstance(rig, 'instance-a', {}, maxListeners).events };
});

jobEventsAcrossContract(NAME, async () => {
  const rig = createVirtualRig();
  const [here, there] = [openInstance(rig, 'instance-a'), openInstance(rig, 'instance-b')];
  return { ...rig.timed, clock: here.clock, here, there };
});

inboxContract(NAME, async (limits) => {
  const rig = createVirtualRig();
  return {
    ...rig.timed,
    inbox: rig.driven(createInbox({ lines: rig.lines(), planAfter: rig.planAfter, ...limits })),
  };
});

deadLettersContract(NAME, async (limits) => {
  const rig = createVirtualRig();
  const lines = rig.lines();
  const inbox = createInbox({ lines, planAfter: rig.planAfter, ...limits });
  const deadLetters = createDeadLetters({ lines, inbox, ...limits });
  return { ...rig.timed, inbox: rig.driven(inbox), deadLetters: rig.driven(deadLetters) };
});

instancesContract(NAME, async () => {
  const rig = createVirtualRig();
  return { ...rig.timed, instances: rig.driven(createInstances({ lines: rig.lines() })) };
});

instanceFiguresContract(NAME, async () => {
  const rig = createVirtualRig();
  return { ...rig.timed, figures: rig.driven(createInstanceFigures({ lines: rig.lines() })) };
});

sessionStoreContract(NAME, async () => {
  const rig = createVirtualRig();
  return { ...rig.timed, store: rig.driven(createSessionStore({ lines: rig.lines() })) };
});

locksContract(NAME, async () => {
  const rig = createVirtualRig();
  const [locks, others] = [
    createLocks({ lines: rig.lines(), space: 'one' }),
    createLocks({ lines: rig.lines(), space: 'other' }),
  ];
  return { ...rig.timed, locks: rig.driven(locks), others: rig.driven(others) };
});

statsStoreContract(NAME, async () => {
  const rig = createVirtualRig();
  return { ...rig.timed, statsStore: rig.driven(createStatsStore({ lines: rig.lines() })) };
});

usageStoreContract(NAME, async () => {
  const rig = createVirtualRig();
  const [store, other] = ['here', 'there'].map((name) =>
    rig.driven(createUsageStore({ lines: rig.lines(rig.machineOf(name)), retentionDays: RETENTION_DAYS })),
  ) as [UsageStore, UsageStore];
  return { ...rig.timed, store, other, now: rig.machine.clock.now };
});

const openRooms = async (limits = LOG_LIMITS) => {
  const rig = createVirtualRig();
  const lines = rig.lines();
  return {
    ...rig.timed,
    log: rig.driven(createRoomLog(lines, limits)),
    followers: rig.driven(createFollowers(lines)),
    records: rig.driven(createRoomRecords(lines)),
  };
};
roomLogContract(NAME, openRooms);
roomFollowersContract(NAME, openRooms);
roomRecordsContract(NAME, openRooms);

hintBusContract(NAME, async () => {
  const rig = createVirtualRig();
  return { ...rig.timed, hintBus: rig.driven(createHintBus({ lines: rig.lines() })) };
});
