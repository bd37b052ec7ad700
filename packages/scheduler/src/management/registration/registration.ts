/** Cold path: registers a node. The stores are written first; the registry changes only after all of them have agreed. */
import type { ErrorCode } from '../../domain/errors.ts';
import { isOutsideId, type NodeId } from '../../domain/ids.ts';
import type { Load } from '../../domain/lease.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { NodeCapacity } from '../../ports/capacity-ledger.ts';
import type { Fleet, RegistryDeps } from '../fleet.ts';
import type { MarkKeeper } from '../marks/mark-keeper.ts';
import type { RegisterOutcome, Registration } from '../node-registry.ts';
import { isConnected, type NodeIdentity, ordersOf, type RegisteredNode } from '../registered-node.ts';
import type { ManagementSettings } from '../settings.ts';
import { type Admission, adoptOrders, type Claim, newRecord, prepareAdmission } from './admission.ts';
import type { Excess } from './declaration-budget.ts';
import type { Understand } from './profile.ts';
import { excessOf, excessOfPairs } from './report-limits.ts';
import { reportProof } from './report-proof.ts';

type Refusal = Extract<RegisterOutcome, { kind: 'refused' }>;

const SCHEMAS: readonly (string | undefined)[] = [undefined, '1.0', '2.0'];
/** If fresh ids are taken several times, the source of ids is broken. */
const MAX_CLAIMS = 3;

export interface Registrations {
  register(registration: Registration): Promise<RegisterOutcome>;
  /** A registration of this id is in progress. */
  isArriving(nodeId: NodeId): boolean;
}

/** `departed`: resolves when the removal of a node with that id has ended. */
export function createRegistrations(
  deps: RegistryDeps,
  fleet: Fleet,
  marks: Pick<MarkKeeper, 'inherit' | 'claimed'>,
  departed: (nodeId: NodeId) => Promise<void> | undefined,
): Registrations {
  const { clock, nodeIdClaims, events, ids, ledger, log, meter, settings } = deps;
  const { profileOf } = fleet;
  const arriving = new Map<NodeId, number>();

  async function claimId(registration: Registration): Promise<{ claim: Claim } | { refusal: Refusal }> {
    const { credential, channel } = registration;
    const held = fleet.nodes.get(registration.nodeId ?? '');
    if (held !== undefined && channel !== 'socket' && holdsSocket(held, credential)) {
      const { nodeId, generation } = held;
      return { claim: { nodeId, generation, isReturning: true, isBesideSocket: true } };
    }
    let nodeId = registration.nodeId ?? ids.nodeId();
    for (let left = MAX_CLAIMS; left > 0; left -= 1) {
      const answer = await nodeIdClaims.claim(nodeId, credential);
      if (answer.kind === 'claimed') {
        const { kind: _, orders, ...claimed } = answer;
        // The store may have lost them, or have them from before a command that is just being carried out here.
        const isOrderedHere = held !== undefined && ordersOf(held) !== undefined;
        const inherited = orders === undefined || isOrderedHere ? {} : { orders };
        return { claim: { nodeId, ...claimed, ...inherited, isBesideSocket: false } };
      }
      if (answer.kind === 'full') return { refusal: refuseForRoom(settings) };
      // Over HTTP a node cannot adopt another id, so it keeps the one it has.
      if (channel !== 'socket' || registration.isIdFixed === true) break;
      nodeId = ids.nodeId();
    }
    return { refusal: refuse('NODE_ID_CONFLICT', `node id ${nodeId} belongs to another credential`) };
  }

  async function tellLedger(
    { nodeId, generation }: Claim,
    { capacity, profile }: Admission,
    registration: Registration,
  ): Promise<Load> {
    const { channel, resources, runningJobIds } = registration;
    const load = await ledger.declare(nodeId, { ...capacity, claim: generation });
    const running = resources?.runningJobs ?? runningJobIds?.length;
    if (running === undefined) return load;
    const proof = reportProof(channel !== 'socket', profile);
    const report = {
      running,
      claim: generation,
      ...proof,
      ...(runningJobIds !== undefined && { runningJobIds }),
    };
    return (await ledger.reconcile(nodeId, report)) ?? load;
  }

  function refuseExcess(nodeId: NodeId, { limit, message }: Excess): Refusal {
    log.warn({ node_id: nodeId, limit, excess: message }, 'a registration was refused');
    return refuse(limit === 'node' ? 'INVALID_MESSAGE' : 'RATE_LIMITED', message);
  }

  function settle(
    registration: Registration,
    claim: Claim,
    capacity: NodeCapacity,
    load: Load,
  ): MaybePromise<RegisterOutcome> {
    const { nodeId, generation, isReturning } = claim;
    const { runningJobIds } = registration;
    const known = fleet.nodes.get(nodeId);
    if (known !== undefined && known.generation > generation) {
      known.declared = undefined; // the ledger may have received the older one last
      void fleet.publish(known);
      return refuse('NODE_ID_CONFLICT', `a newer connection holds node id ${nodeId}`);
    }
    const now = clock.now();
    const admission = prepareAdmission(known, registration, claim, { profileOf, settings, now });
    const hardware = registration.hardware ?? known?.identity.hardware;
    const identity = identify(
      registration,
      fleet.shareTraits(admission.traits),
      hardware && fleet.shareHardware(hardware),
      admission.endpoint,
      now,
    );
    const { profile } = admission;
    const report = fleet.shareReport(admission.report);
    const excess = fleet.declare(nodeId, { identity, report, profile, runningJobIds });
    if (excess !== undefined) return takeBack(claim).then(() => refuseExcess(nodeId, excess));
    const node = known ?? newRecord(nodeId, identity, admission, now);
    const before = { report: node.report, profile: node.profile };
    if (known === undefined) fleet.add(node);
    node.identity = identity;
    node.generation = generation;
    node.claim = generation;
    node.channel = admission.channel;
    node.homeChannel = admission.homeChannel;
    node.lostUntil = undefined;
    node.isRetired = false;
    node.leavingAt = undefined;
    node.isFresh = true;
    node.report = report;
    node.profile = profile;
    if (known === undefined) marks.inherit(node, deps.markedElsewhere?.(nodeId) ?? []);
    marks.claimed(node, before);
    node.resources = admission.resources;
    node.slots = admission.slots;
    node.declared = { ...capacity, claim: generation };
    if (claim.orders !== undefined) adoptOrders(node, claim.orders);
    fleet.move(node, admission.health);
    void fleet.publish(node); // the answer contains the health, so it is not sent again
    events.loaded(nodeId, load);
    if (!claim.isBesideSocket) events.connected(nodeId, runningJobIds);
    const { health } = node.health;
    const { heartbeatIntervalMs } = settings;
    log.info({ node_id: nodeId, generation, channel: node.channel, health }, 'node registered');
    return { kind: 'registered', nodeId, generation, health, heartbeatIntervalMs, isReturning };
  }

  /** The ledger may or may not have the node: a known node is declared again by the next scan, a new one is removed. */
  async function takeBack({ nodeId, generation, isReturning }: Claim): Promise<void> {
    const known = fleet.nodes.get(nodeId);
    if (known !== undefined) {
      known.claim = Math.max(known.claim, generation);
      known.declared = undefined;
    } else if (!isReturning) {
      await Promise.allSettled([ledger.forget(nodeId), nodeIdClaims.release(nodeId, generation)]);
    }
  }

  async function enter(registration: Registration): Promise<RegisterOutcome> {
    let claim: Claim | undefined;
    let capacity: NodeCapacity;
    let load: Load;
    try {
      const answer = await claimId(registration);
      if ('refusal' in answer) return answer.refusal;
      claim = answer.claim;
      const known = fleet.nodes.get(claim.nodeId);
      const context = { profileOf, settings, now: clock.now() };
      const admission = prepareAdmission(known, registration, claim, context);
      capacity = admission.capacity;
      load = await tellLedger(claim, admission, registration);
    } catch (cause) {
      meter.count('scheduler_dependency_down_total');
      log.error({ node_id: registration.nodeId, err: cause }, 'cannot register a node');
      if (claim !== undefined) await takeBack(claim);
      return refuse('SCHEDULER_DEPENDENCY_DOWN', 'the store did not answer; register again shortly');
    }
    return settle(registration, claim, capacity, load);
  }

  async function admit(registration: Registration): Promise<RegisterOutcome> {
    const refusal = objectionTo(registration, settings, profileOf);
    if (refusal !== undefined) return refusal;
    const key = registration.nodeId ?? '';
    if (!fleet.nodes.has(key) && fleet.nodes.size >= settings.maxNodes) return refuseForRoom(settings);
    arriving.set(key, (arriving.get(key) ?? 0) + 1);
    try {
      await departed(key);
      return await enter(registration);
    } finally {
      const left = (arriving.get(key) ?? 1) - 1;
      if (left === 0) arriving.delete(key);
      else arriving.set(key, left);
    }
  }

  return {
    async register(registration) {
      const outcome = await admit(registration);
      const result = outcome.kind === 'refused' ? outcome.code : outcome.isReturning ? 'returned' : 'new';
      meter.count('scheduler_node_registrations_total', { result });
      return outcome;
    },
    isArriving: (nodeId) => arriving.has(nodeId),
  };
}

function objectionTo(
  registration: Registration,
  settings: ManagementSettings,
  profileOf: Understand,
): Refusal | undefined {
  const { nodeId, schemaVersion, traits, report } = registration;
  if (nodeId !== undefined && !isOutsideId(nodeId)) {
    return refuse('INVALID_MESSAGE', 'node_id must match [A-Za-z0-9._:-]{1,128}');
  }
  if (!SCHEMAS.includes(schemaVersion)) {
    return refuse('INVALID_CAPABILITY_SCHEMA', `capability_schema_version "${schemaVersion}" is not known`);
  }
  if (settings.requireGpu && traits.gpuCount < 1) {
    return refuse('NO_GPU_AVAILABLE', 'the node reports no GPU');
  }
  const excess = excessOf(report) ?? excessOfPairs(profileOf(report, traits));
  return excess === undefined ? undefined : refuse('INVALID_MESSAGE', excess);
}

const identify = (
  { credential, version, platform, region, zone }: Registration,
  traits: NodeIdentity['traits'],
  hardware: NodeIdentity['hardware'],
  endpoint: string | undefined,
  registeredAt: number,
): NodeIdentity => ({
  credential,
  registeredAt,
  traits,
  ...(hardware !== undefined && { hardware }),
  ...(endpoint !== undefined && { endpoint }),
  ...(version !== undefined && { version }),
  ...(platform !== undefined && { platform }),
  ...placeOf(traits.binding?.region ?? region),
  ...(zone !== undefined && { zone }),
});

/** Tenants may require a region, so that of the token counts. */
const placeOf = (region: string | undefined) => (region === undefined ? undefined : { region });

const holdsSocket = (node: RegisteredNode, credential: string): boolean =>
  node.channel === 'socket' && isConnected(node) && node.identity.credential === credential;

const refuse = (code: ErrorCode, message: string): Refusal => ({ kind: 'refused', code, message });

const refuseForRoom = ({ maxNodes }: ManagementSettings): Refusal =>
  refuse('RATE_LIMITED', `the scheduler has its ${maxNodes} nodes (scheduler.max_nodes); try again later`);
