/** A random history of the engine: acts of clients, nodes and the clock, over ports that are slow and fail by seeded chance. */
import fc from 'fast-check';
import type { DispatchOutcome } from '../../../src/domain/dispatch.ts';
import type { ReportedAttempt } from '../../../src/domain/node-report.ts';
import type { Tenancy } from '../../../src/domain/tenancy.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Delivery } from '../../../src/ports/node-link.ts';
import { type Chaos, chaotic } from '../../support/chaotic.ts';
import { seededChance } from '../fleet/fleet-fixture.ts';
import { createRig, legacyProfile, profile, RESULT, type Rig } from './rig.ts';

export const NODES = ['node-a', 'node-b', 'node-c', 'node-d'];
export const SLOTS = 2;

const ANSWERS = ['ack', 'finish', 'ack_finish', 'untranslated', 'fail', 'overload', 'cancel'] as const;

export type Act =
  | { readonly kind: 'dispatch'; readonly request: number; readonly waitMs: number }
  | { readonly kind: (typeof ANSWERS)[number]; readonly pick: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'lose' | 'return'; readonly pick: number };

const dispatch = fc.record({
  kind: fc.constant('dispatch' as const),
  request: fc.nat(12),
  waitMs: fc.constantFrom(0, 0, 500, 2_000),
});
const answer = fc.record({ kind: fc.constantFrom('ack', 'finish', ...ANSWERS), pick: fc.nat(200) });
const advance = fc.record({
  kind: fc.constant('advance' as const),
  ms: fc.constantFrom(1, 5, 20, 50, 500, 3_000, 20_000, 61_000),
});
const node = fc.record({ kind: fc.constantFrom('lose' as const, 'return' as const), pick: fc.nat(3) });

export const anyActs: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: dispatch },
    { weight: 10, arbitrary: answer },
    { weight: 8, arbitrary: advance },
    { weight: 1, arbitrary: node },
  ),
  { minLength: 10, maxLength: 60 },
);

export interface Mode {
  readonly maxDelayMs: number;
  readonly failRate: number;
  /** If set, requests come from three tenants. */
  readonly tenancy?: Tenancy;
}

export interface History {
  readonly rig: Rig;
  /** Every assignment that reached a node, in order, whatever its delivery returned. */
  readonly received: readonly ReportedAttempt[];
  readonly outcomes: readonly DispatchOutcome[];
  /** How many results of each job were accepted as its outcome. */
  readonly accepted: ReadonlyMap<string, number>;
  /** Unexpected errors: thrown to a client, or unhandled. */
  readonly faults: readonly unknown[];
  /** Nodes that had more jobs than slots at any time. */
  readonly oversold: ReadonlySet<string>;
}

/** Every job, lease and timer has ended by then. */
const QUIET_MS = 258_000;
/** Share of deliveries whose end is unknown, if ports fail. */
const UNKNOWN_RATE = 0.05;

/** Plays the acts, then heals the ports and advances the clock until all jobs have ended. */
export async function playHistory(seed: number, acts: readonly Act[], mode: Mode): Promise<History> {
  const { tenancy, ...rates } = mode;
  const chaos: Chaos = { ...rates, chance: seededChance(seed) };
  const rig = createChaoticRig(seed, chaos, tenancy);
  const received: ReportedAttempt[] = [];
  const outcomes: DispatchOutcome[] = [];
  const accepted = new Map<string, number>();
  const faults: unknown[] = [];
  const oversold = new Set<string>();
  const pending: Promise<unknown>[] = [];
  const { service } = rig;

  for (const [index, nodeId] of NODES.entries()) {
    await rig.addNode(nodeId, SLOTS, index === 3 ? legacyProfile() : profile());
    rig.onDelivery(nodeId, ({ job: { jobId }, attempt }) => {
      received.push({ nodeId, jobId, attempt });
      return deliver(rig.clock, chaos);
    });
  }

  async function finish(got: ReportedAttempt): Promise<void> {
    const { kind } = await service.finish(got, RESULT);
    if (kind === 'accepted') accepted.set(got.jobId, (accepted.get(got.jobId) ?? 0) + 1);
  }

  function request(number: number, waitMs: number): Promise<unknown> {
    const requestId = `req-${number}`;
    const tenantId = tenancy === undefined ? 'default' : `t${number % 3}`;
    const built = rig.request({ tenantId, requestId, fingerprint: requestId, waitMs });
    return Promise.resolve(service.dispatch(built)).then(
      (outcome) => outcomes.push(outcome),
      (fault: unknown) => faults.push(fault),
    );
  }

  function reply(kind: (typeof ANSWERS)[number], got: ReportedAttempt): Promise<unknown>[] {
    if (kind === 'ack') return [service.acknowledge(got)];
    if (kind === 'finish') return [finish(got)];
    if (kind === 'ack_finish') return [service.acknowledge(got), finish(got)];
    if (kind === 'untranslated') return [service.finish(got, { ...RESULT, textTranslated: '' })];
    if (kind === 'cancel') return [service.cancel(got.jobId, 'x')];
    const code = kind === 'overload' ? 'NODE_OVERLOADED' : 'PROCESSING_ERROR';
    return [service.fail(got, { code, message: 'x' })];
  }

  async function play(act: Act): Promise<void> {
    if (act.kind === 'dispatch') pending.push(request(act.request, act.waitMs));
    else if (act.kind === 'advance') await rig.clock.advance(act.ms);
    else if (act.kind === 'lose') service.nodeLeft(NODES[act.pick] ?? '', 0);
    else if (act.kind === 'return') service.nodeReturned(NODES[act.pick] ?? '', []);
    else {
      const got = received.at(-1 - (act.pick % Math.max(1, received.length)));
      // A report may fail because a port is down; that is expected.
      if (got !== undefined) pending.push(Promise.allSettled(reply(act.kind, got)));
    }
  }

  const onFault = (fault: unknown) => faults.push(fault);
  process.on('unhandledRejection', onFault);
  try {
    for (const act of acts) {
      await play(act);
      for (const nodeId of NODES) if ((await rig.used(nodeId)) > SLOTS) oversold.add(nodeId);
    }
    chaos.failRate = 0;
    await rig.clock.advance(QUIET_MS);
    await Promise.all(pending);
  } finally {
    process.off('unhandledRejection', onFault);
  }
  return { rig, received, outcomes, accepted, faults, oversold };
}

function createChaoticRig(seed: number, chaos: Chaos, tenancy: Tenancy | undefined): Rig {
  return createRig({
    ...(tenancy !== undefined && { tenancy }),
    chance: seededChance(seed + 7),
    // All records are checked at the end.
    retentionMs: 300_000_000,
    wrapLedger: (ledger, clock) =>
      chaotic(ledger, ['reserve', 'commit', 'release', 'abandon', 'loads'], clock, chaos),
    wrapStore: (store, clock) => chaotic(store, ['admit', 'move', 'discard', 'get', 'bound'], clock, chaos),
  });
}

async function deliver(clock: Clock, chaos: Chaos): Promise<Delivery> {
  const delayMs = Math.floor(chaos.chance() * chaos.maxDelayMs);
  if (delayMs > 0) await new Promise<void>((resolve) => clock.after(delayMs, resolve));
  const isUnknown = chaos.chance() < UNKNOWN_RATE && chaos.failRate > 0;
  return isUnknown ? { kind: 'unknown', reason: 'by chance' } : { kind: 'written' };
}
