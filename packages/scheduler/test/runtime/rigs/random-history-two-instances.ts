/** A random history of two instances on one store: each takes jobs over from the other at random times. */
import fc from 'fast-check';
import type { DispatchOutcome } from '../../../src/domain/dispatch.ts';
import { isSettled } from '../../../src/domain/job.ts';
import type { ReportedAttempt } from '../../../src/domain/node-report.ts';
import type { Assignment, Delivery } from '../../../src/ports/node-link.ts';
import type { JobDrivers } from '../../../src/runtime/takeover/job-drivers.ts';
import { type Chaos, chaotic } from '../../support/chaotic.ts';
import { seededChance } from '../fleet/fleet-fixture.ts';
import { type Act, anyActs, type Mode, NODES, SLOTS } from './random-history.ts';
import { createRig, legacyProfile, profile, RESULT, type Rig, type RigOptions } from './rig.ts';
import { createDriverNotes } from './two-instances.ts';

export type SharedAct = Act | { readonly kind: 'take_over' | 'take_one_over'; readonly pick: number };

const takeOver = fc.record({
  kind: fc.constantFrom('take_over' as const, 'take_one_over' as const),
  pick: fc.nat(200),
});

export const anySharedActs: fc.Arbitrary<SharedAct[]> = fc
  .tuple(
    anyActs,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(1, 40, 900), takeOver), { minLength: 3, maxLength: 10 }),
  )
  .map(([acts, takeovers]) =>
    takeovers.reduce<SharedAct[]>(
      // After a job has begun: before that there is nothing to take over.
      (all, [at, ms, act]) => all.toSpliced(1 + (at % all.length), 0, { kind: 'advance', ms }, act),
      acts,
    ),
  );

export interface SharedMode extends Mode {
  /** An instance that loses its jobs drops them at once. Otherwise the store rejects its next move. */
  readonly isNotified: boolean;
}

export interface SharedHistory {
  readonly rigs: readonly [Rig, Rig];
  readonly received: readonly ReportedAttempt[];
  readonly outcomes: readonly DispatchOutcome[];
  readonly accepted: ReadonlyMap<string, number>;
  readonly faults: readonly unknown[];
  readonly oversold: ReadonlySet<string>;
  /** How many jobs were taken over. */
  readonly taken: number;
}

const NAMES = ['first', 'second'] as const;
/** Every job, lease and timer has ended by then. */
const QUIET_MS = 258_000;
/** Share of the deliveries that go through another instance, the holder of the node's socket. */
const HOLDER_RATE = 0.4;
/** Share of the deliveries whose end stays unknown. */
const UNKNOWN_RATE = 0.05;
const AUDIO_AT = { url: 'http://elsewhere/audio', token: 'once', bytes: 4 };

export async function playShared(
  seed: number,
  acts: readonly SharedAct[],
  mode: SharedMode,
): Promise<SharedHistory> {
  const chaos: Chaos = { maxDelayMs: mode.maxDelayMs, failRate: mode.failRate, chance: seededChance(seed) };
  const notes = createDriverNotes();
  const received: ReportedAttempt[] = [];
  const outcomes: DispatchOutcome[] = [];
  const accepted = new Map<string, number>();
  const faults: unknown[] = [];
  const oversold = new Set<string>();
  const pending: Promise<unknown>[] = [];
  let taken = 0;

  const driversFor = (name: string): JobDrivers => ({
    async claim({ jobId }) {
      const job = await rigs[0].store.get(jobId);
      if (job === undefined || isSettled(job.state)) return { kind: 'over' };
      if ((notes.of(jobId) ?? name) !== name) return { kind: 'theirs' };
      notes.assign(jobId, name);
      return { kind: 'ours', job };
    },
    placingResult: ({ jobId }) => rigOf(notes.of(jobId)).service.placingResult(jobId),
    offerAudio: ({ jobId }) => rigOf(notes.of(jobId)).service.audioReturned(jobId, AUDIO_AT),
  });
  const options = (name: string): RigOptions => ({
    chance: seededChance(seed + 7),
    retentionMs: 300_000_000,
    drivers: driversFor(name),
    wrapLedger: (ledger, clock) =>
      chaotic(ledger, ['reserve', 'commit', 'release', 'abandon', 'loads'], clock, chaos),
    wrapStore: (store, clock) =>
      chaotic(
        notes.seenBy(name, store, !mode.isNotified),
        ['admit', 'move', 'discard', 'get', 'bound'],
        clock,
        chaos,
      ),
  });
  const first = createRig(options('first'));
  const rigs = [first, createRig({ ...options('second'), shares: first })] as const;
  const { clock, store } = first;
  const rigOf = (name: string | undefined): Rig => rigs[name === 'second' ? 1 : 0];
  const driverOf = (jobId: string): Rig => rigOf(notes.of(jobId));

  async function deliver(assignment: Assignment): Promise<Delivery> {
    const { nodeId, attempt, job } = assignment;
    received.push({ nodeId, jobId: job.jobId, attempt });
    const delayMs = Math.floor(chaos.chance() * chaos.maxDelayMs);
    const isHeldElsewhere = chaos.chance() < HOLDER_RATE;
    const isUnknown = chaos.chance() < UNKNOWN_RATE && mode.failRate > 0;
    if (delayMs > 0) await new Promise<void>((resolve) => clock.after(delayMs, resolve));
    if (isUnknown) return { kind: 'unknown', reason: 'by chance' };
    return isHeldElsewhere ? { kind: 'written', generation: 1 } : { kind: 'written' };
  }

  for (const rig of rigs)
    for (const [index, nodeId] of NODES.entries()) {
      await rig.addNode(nodeId, SLOTS, index === 3 ? legacyProfile() : profile());
      rig.onDelivery(nodeId, deliver);
    }

  function request(number: number, waitMs: number): Promise<unknown> {
    const requestId = `req-${number}`;
    const { service, request: build } = rigs[chaos.chance() < 0.5 ? 0 : 1];
    const built = build({ requestId, fingerprint: requestId, waitMs });
    const spec = number % 2 === 0 ? built.spec : { ...built.spec, audio: { kind: 'none' as const } };
    return Promise.resolve(service.dispatch({ ...built, spec })).then(
      (outcome) => outcomes.push(outcome),
      (fault: unknown) => faults.push(fault),
    );
  }

  async function finish(got: ReportedAttempt): Promise<void> {
    const { kind } = await driverOf(got.jobId).service.finish(got, RESULT);
    if (kind === 'accepted') accepted.set(got.jobId, (accepted.get(got.jobId) ?? 0) + 1);
  }

  function reply(kind: string, got: ReportedAttempt): Promise<unknown>[] {
    const { service } = driverOf(got.jobId);
    if (kind === 'ack') return [service.acknowledge(got)];
    if (kind === 'finish') return [finish(got)];
    if (kind === 'ack_finish') return [service.acknowledge(got), finish(got)];
    if (kind === 'untranslated') return [service.finish(got, { ...RESULT, textTranslated: '' })];
    if (kind === 'cancel') return [service.cancel(got.jobId, 'x')];
    const code = kind === 'overload' ? 'NODE_OVERLOADED' : 'PROCESSING_ERROR';
    return [service.fail(got, { code, message: 'x' })];
  }

  /** All jobs of one instance, or one of them, go to the other. */
  async function takeFrom(index: number, isOne: boolean): Promise<void> {
    const from = rigs[index % 2] as Rig;
    const to = rigs[(index + 1) % 2] as Rig;
    const name = NAMES[(index + 1) % 2] as string;
    const all = from.recordsToReplay().filter(
      // An instance gets a job back only after it dropped it: an instance that was declared dead checks that first.
      ({ jobId }) => driverOf(jobId) === from && !to.service.drives(jobId),
    );
    // A single job can be taken only from an instance whose moves the store rejects.
    const jobs = isOne && !mode.isNotified ? all.slice(index % Math.max(1, all.length)).slice(0, 1) : all;
    if (mode.isNotified) from.service.dropAll();
    for (const { jobId } of jobs) notes.assign(jobId, name);
    for (const { jobId } of jobs) {
      const job = await store.get(jobId);
      if (job !== undefined) to.service.resume(job);
      taken += 1;
    }
  }

  async function play(act: SharedAct): Promise<void> {
    if (act.kind === 'dispatch') pending.push(request(act.request, act.waitMs));
    else if (act.kind === 'advance') await clock.advance(act.ms);
    else if (act.kind === 'take_over' || act.kind === 'take_one_over')
      await takeFrom(act.pick, act.kind === 'take_one_over');
    else if (act.kind === 'lose') for (const { service } of rigs) service.nodeLeft(NODES[act.pick] ?? '', 0);
    else if (act.kind === 'return')
      for (const { service } of rigs)
        service.nodeReturned(NODES[act.pick] ?? '', [], act.pick % 2 === 0 ? 1 : 2);
    else {
      const got = received.at(-1 - (act.pick % Math.max(1, received.length)));
      if (got !== undefined) pending.push(Promise.allSettled(reply(act.kind, got)));
    }
  }

  const onFault = (fault: unknown) => faults.push(fault);
  process.on('unhandledRejection', onFault);
  try {
    for (const act of acts) {
      await play(act);
      for (const nodeId of NODES) if ((await first.used(nodeId)) > SLOTS) oversold.add(nodeId);
    }
    chaos.failRate = 0;
    await clock.advance(QUIET_MS);
    await Promise.all(pending);
  } finally {
    process.off('unhandledRejection', onFault);
  }
  return { rigs, received, outcomes, accepted, faults, oversold, taken };
}
