/** Cold path: what a registration changes, given the node's previous state. Pure. */
import type { CapabilityReport, NodeTraits, ResourceReport } from '../../domain/capability-report.ts';
import type { NodeId } from '../../domain/ids.ts';
import { isAccepting, type NodeChannel, type NodeOrders } from '../../domain/node.ts';
import type { NodeProfile } from '../../domain/profile.ts';
import type { NodeCapacity } from '../../ports/capacity-ledger.ts';
import { TRUSTED } from '../health/ejection.ts';
import { type HealthInput, newHealth, stepHealth } from '../health/health.ts';
import { findFault } from '../health/vitals.ts';
import { NOTHING_HIDDEN } from '../marks/marked-services.ts';
import type { Registration } from '../node-registry.ts';
import type { NodeIdentity, RegisteredNode } from '../registered-node.ts';
import type { ManagementSettings } from '../settings.ts';
import type { Understand } from './profile.ts';

/** Identifies who may register the node again. */
export interface Claim {
  readonly nodeId: NodeId;
  readonly generation: number;
  readonly isReturning: boolean;
  /** A registration over HTTP while the node's socket is open: it updates the node and opens no new connection. */
  readonly isBesideSocket: boolean;
  /** From the store: orders that this instance did not carry out itself. */
  readonly orders?: NodeOrders;
}

export interface Admission {
  readonly channel: NodeChannel;
  readonly homeChannel: NodeChannel | undefined;
  readonly traits: NodeTraits;
  readonly report: CapabilityReport;
  readonly profile: NodeProfile;
  readonly resources: ResourceReport;
  readonly slots: number;
  readonly endpoint: string | undefined;
  readonly health: HealthInput;
  readonly capacity: NodeCapacity;
}

const MAX_SLOTS = 1_024;
const NOTHING_KNOWN: ResourceReport = { runningJobs: 0 };

export function prepareAdmission(
  known: RegisteredNode | undefined,
  registration: Registration,
  claim: Claim,
  context: { readonly profileOf: Understand; readonly settings: ManagementSettings; readonly now: number },
): Admission {
  const { profileOf, settings, now } = context;
  const kept = known !== undefined && isContinuation(known, registration, claim) ? known : undefined;
  const traits = kept === undefined ? registration.traits : mergeTraits(kept, registration);
  const report = kept === undefined ? registration.report : mergeReports(kept.report, registration.report);
  const profile = profileOf(report, traits);
  const resources = registration.resources ?? kept?.resources ?? NOTHING_KNOWN;
  const slots = profile.isLegacy
    ? settings.legacySlots
    : soundSlots(registration.slots, kept?.slots ?? settings.defaultSlots);
  const fault = findFault(profile, resources, settings.requireGpu);
  const health: HealthInput = {
    kind: kept === undefined ? 'registration' : 'beat',
    ...(registration.health !== undefined && { reported: registration.health }),
    ...(fault !== undefined && { fault }),
  };
  const { orders } = claim;
  const before = known?.health ?? newHealth(now);
  const ordered = orders === undefined ? before : { ...before, isDrainOrdered: orders.isDrained };
  const foreseen = stepHealth(ordered, health, settings.health, now).state.health;
  return {
    channel: claim.isBesideSocket ? 'socket' : registration.channel,
    homeChannel: homeOf(known, registration),
    traits,
    report,
    profile,
    resources,
    slots,
    endpoint: registration.endpoint ?? known?.identity.endpoint,
    health,
    capacity: {
      slots,
      isAccepting: isAccepting({
        health: foreseen,
        isCordoned: orders?.isCordoned ?? known?.isCordoned ?? false,
      }),
    },
  };
}

/** Slots from outside: a whole number within limits, or the default. */
export const soundSlots = (slots: number | undefined, fallback: number): number =>
  slots === undefined || !Number.isFinite(slots)
    ? fallback
    : Math.min(MAX_SLOTS, Math.max(0, Math.trunc(slots)));

export const newRecord = (
  nodeId: NodeId,
  identity: NodeIdentity,
  { report, profile, channel, slots, resources }: Admission,
  now: number,
): RegisteredNode => ({
  nodeId,
  identity,
  generation: 0,
  claim: 0,
  channel,
  homeChannel: undefined,
  lostUntil: undefined,
  report,
  profile,
  slots,
  resources,
  efficiencies: undefined,
  health: newHealth(now),
  isFresh: true,
  isCordoned: false,
  orderReason: undefined,
  areOrdersKept: true,
  isRetired: false,
  ejection: TRUSTED,
  marks: undefined,
  hidden: NOTHING_HIDDEN,
  lastReason: undefined,
  view: undefined,
  declared: undefined,
  isDeclaring: false,
  isLeaving: false,
  leavingAt: undefined,
});

export function adoptOrders(node: RegisteredNode, { isCordoned, isDrained, reason }: NodeOrders): void {
  node.isCordoned = isCordoned;
  node.orderReason = reason;
  node.health = { ...node.health, isDrainOrdered: isDrained };
}

/** The same node over another channel, without a restart: it registered over HTTP and now opens its socket, or the reverse. */
function isContinuation(
  known: RegisteredNode,
  { channel }: Registration,
  { isBesideSocket }: Claim,
): boolean {
  if (known.health.health === 'offline') return false;
  return isBesideSocket || (channel === 'socket' && known.channel !== 'socket');
}

/** How the node gets jobs when its socket closes. */
function homeOf(known: RegisteredNode | undefined, { channel }: Registration): NodeChannel | undefined {
  if (channel !== 'socket') return channel;
  return known?.channel === 'socket' ? known.homeChannel : known?.channel;
}

const mergeTraits = (kept: RegisteredNode, { traits }: Registration): NodeTraits => {
  const supports = traits.supports ?? kept.identity.traits.supports;
  return { ...traits, ...(supports !== undefined && { supports }) };
};

/** The second registration often contains less than the first: missing parts keep their values. */
const mergeReports = (before: CapabilityReport, now: CapabilityReport): CapabilityReport => ({
  ...before,
  ...now,
  models: now.models.length > 0 ? now.models : before.models,
});
