/** Cold path: all nodes of this instance. Every change of a node is published here. */
import type { CapabilityReport, Hardware, NodeTraits } from '../domain/capability-report.ts';
import type { NodeId } from '../domain/ids.ts';
import { isAccepting, NODE_HEALTHS, type NodeHealth } from '../domain/node.ts';
import type { NodeProfile } from '../domain/profile.ts';
import type { CapacityLedger, NodeCapacity } from '../ports/capacity-ledger.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { NodeIdClaims } from '../ports/node-id-claims.ts';
import { type EjectionState, isSuspect, mayEject } from './health/ejection.ts';
import { type HealthChange, type HealthInput, stepHealth } from './health/health.ts';
import { NOTHING_HIDDEN, type TypeOf } from './marks/marked-services.ts';
import { createHiding } from './marks/marked-services-cache.ts';
import type { MaybeMarks } from './marks/marks.ts';
import type { RegistryEvents } from './node-registry.ts';
import { isSameView, type NodeIdentity, ordersOf, type RegisteredNode, viewOf } from './registered-node.ts';
import type { Excess, NodeBudget } from './registration/declaration-budget.ts';
import { type Understand, understand } from './registration/profile.ts';
import { createShare, createTextMap, textOf } from './registration/share.ts';
import type { ManagementSettings } from './settings.ts';

export interface RegistryDeps {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly ledger: CapacityLedger;
  readonly nodeIdClaims: NodeIdClaims;
  readonly meter: Meter;
  readonly log: Log;
  readonly events: RegistryEvents;
  readonly settings: ManagementSettings;
  /** Limits what nodes declare in total. */
  readonly budget: NodeBudget;
  /** Services of a new node that another instance has marked: the node may have moved from that instance. */
  readonly markedElsewhere?: ((nodeId: NodeId) => readonly string[]) | undefined;
}

export interface Fleet {
  readonly nodes: ReadonlyMap<NodeId, RegisteredNode>;
  add(node: RegisteredNode): void;
  remove(node: RegisteredNode): void;
  /** Changes the node's health; `publish` sends the returned changes to the node. */
  move(node: RegisteredNode, input: HealthInput): readonly HealthChange[];
  setEjection(node: RegisteredNode, state: EjectionState): void;
  setMarks(node: RegisteredNode, marks: MaybeMarks): void;
  marksKnown(): number;
  /** Nodes that are ejected or on probation, or have marks: only for these does the outcome of a job change anything. */
  isDoubted(nodeId: NodeId): boolean;
  /** Returns the service type of an id on this node. */
  typerOf(node: Pick<RegisteredNode, 'report'>): TypeOf;
  /** The share of ejected nodes stays within the limit if this node is ejected. */
  canSpare(node: RegisteredNode): boolean;
  /** Sends changes to selection and the ledger, and the new health to the node. */
  publish(node: RegisteredNode, changes?: readonly HealthChange[]): Promise<void>;
  /** Equal profiles are one object; an equal report is computed once. */
  readonly profileOf: Understand;
  shareReport(report: CapabilityReport): CapabilityReport;
  /** Counts a shared report as the node's declaration. If it exceeds a limit, nothing changes. */
  declare(nodeId: NodeId, declared: Declared): Excess | undefined;
  shareTraits(traits: NodeTraits): NodeTraits;
  shareHardware(hardware: Hardware): Hardware;
  /** Number of nodes that are not offline. */
  online(): number;
  measure(): void;
}

/** What a node declares. `report` and `profile` are shared. */
export interface Declared {
  readonly identity: NodeIdentity;
  readonly report: CapabilityReport;
  readonly profile: NodeProfile;
  readonly runningJobIds?: readonly string[] | undefined;
}

/** Limit for the text of shared reports and profiles: enough for some thousand kinds of nodes. */
const SHARED_CHARS = 8_000_000;

export function createFleet(deps: RegistryDeps): Fleet {
  const { budget, clock, nodeIdClaims, events, ledger, log, meter, settings } = deps;
  const nodes = new Map<NodeId, RegisteredNode>();
  const byHealth = Object.fromEntries(NODE_HEALTHS.map((health) => [health, 0])) as Record<
    NodeHealth,
    number
  >;
  const share = createShare({ maxChars: SHARED_CHARS });
  const understood = createTextMap<NodeProfile>({ maxChars: SHARED_CHARS });
  /** One registration needs its profile several times, and turning a long report into text is the expensive part. */
  const lastProfiles = new WeakMap<
    CapabilityReport,
    { readonly traits: NodeTraits; readonly profile: NodeProfile }
  >();
  const hiding = createHiding(settings.profile.coreServices);
  let suspects = 0;
  let marksKnown = 0;
  const doubted = new Set<NodeId>();

  function weigh(node: RegisteredNode): void {
    if (isSuspect(node.ejection) || node.marks !== undefined) doubted.add(node.nodeId);
    else doubted.delete(node.nodeId);
  }

  /** Counted at each change, so reading is free. Offline nodes do not count as working. */
  function tally(node: RegisteredNode, by: 1 | -1): void {
    byHealth[node.health.health] += by;
    if (isWorkingSuspect(node)) suspects += by;
  }

  const online = (): number => nodes.size - byHealth.offline;

  /** Repeats until the stores have the current capacity and orders. After a failure the next heartbeat or scan tries again. */
  async function declareCapacity(node: RegisteredNode): Promise<void> {
    if (node.isDeclaring) return;
    node.isDeclaring = true;
    const isLost = node.declared === undefined;
    try {
      if (isLost && ordersOf(node) !== undefined) node.areOrdersKept = false;
      while (!isStored(node)) {
        const wanted = capacityOf(node);
        if (!isDeclared(node, wanted)) {
          const load = await ledger.declare(node.nodeId, wanted);
          node.declared = wanted;
          if (nodes.get(node.nodeId) === node) events.loaded(node.nodeId, load);
        } else if (!(await keepOrders(node))) {
          // The node is just registering, here or elsewhere: the next scan tries again.
          node.declared = undefined;
          return;
        }
      }
      if (isLost) await claimAgain(node);
    } catch (cause) {
      node.declared = undefined;
      meter.count('scheduler_dependency_down_total');
      log.warn({ node_id: node.nodeId, err: cause }, 'cannot declare the capacity of a node to the ledger');
    } finally {
      node.isDeclaring = false;
    }
  }

  /** A store that lost the capacity may also have lost the claim; without the claim another node could take the id. */
  async function claimAgain({ nodeId, identity, claim }: RegisteredNode): Promise<void> {
    if (await nodeIdClaims.restore(nodeId, identity.credential, claim)) return;
    log.warn({ node_id: nodeId, generation: claim }, 'another connection has claimed the id of this node');
  }

  /** The next instance that the node registers at carries them out, too. */
  async function keepOrders(node: RegisteredNode): Promise<boolean> {
    // A command during the call sets it back.
    node.areOrdersKept = true;
    let isKept = false;
    try {
      isKept = await nodeIdClaims.keepOrders(node.nodeId, node.claim, ordersOf(node));
    } finally {
      if (!isKept) node.areOrdersKept = false;
    }
    return isKept;
  }

  return {
    nodes,

    add(node) {
      nodes.set(node.nodeId, node);
      tally(node, 1);
      weigh(node);
    },

    remove(node) {
      if (nodes.get(node.nodeId) !== node) return;
      nodes.delete(node.nodeId);
      doubted.delete(node.nodeId);
      tally(node, -1);
      marksKnown -= node.marks?.size ?? 0;
      budget.drop(node.nodeId);
      events.removed(node.nodeId, node.generation);
    },

    move(node, input) {
      const { state, changes } = stepHealth(node.health, input, settings.health, clock.now());
      tally(node, -1);
      node.health = state;
      tally(node, 1);
      for (const { from, to, reason } of changes) {
        node.lastReason = reason;
        meter.count('scheduler_node_transitions_total', { health: to });
        log.info({ node_id: node.nodeId, from, to, reason }, 'node health changed');
      }
      return changes;
    },

    setEjection(node, state) {
      if (state.phase === node.ejection.phase) {
        node.ejection = state;
        return;
      }
      tally(node, -1);
      node.ejection = state;
      tally(node, 1);
      weigh(node);
    },

    setMarks(node, marks) {
      marksKnown += (marks?.size ?? 0) - (node.marks?.size ?? 0);
      node.marks = marks;
      weigh(node);
    },

    isDoubted: (nodeId) => doubted.has(nodeId),

    marksKnown: () => marksKnown,

    typerOf: (node) => hiding.typerOf(node.report),

    canSpare(node) {
      const others = suspects - (isWorkingSuspect(node) ? 1 : 0);
      return mayEject(others, online(), settings.ejection);
    },

    async publish(node, changes = []) {
      node.hidden = node.marks === undefined ? NOTHING_HIDDEN : hiding.hiddenOf(node, node.marks);
      const view = viewOf(node, settings.thresholds);
      // The ledger is updated first, so that it accepts a node as soon as selection finds it.
      const declared = isStored(node) ? undefined : declareCapacity(node);
      if (node.view === undefined || !isSameView(view, node.view)) {
        node.view = view;
        events.changed(view);
      }
      for (const { from, to, reason } of changes) events.statusChanged(node.nodeId, to, reason, from);
      await declared;
    },

    shareReport: (report) => ({
      models: share(report.models),
      ...(report.services !== undefined && { services: share(report.services) }),
      ...(report.serviceStates !== undefined && { serviceStates: share(report.serviceStates) }),
      ...(report.types !== undefined && { types: share(report.types) }),
      ...(report.languages !== undefined && { languages: share(report.languages) }),
    }),

    declare(nodeId, { identity, report, profile, runningJobIds }) {
      const { models, services, serviceStates, types, languages } = report;
      const parts = [identity, models, services, serviceStates, types, languages, runningJobIds];
      return budget.declare(nodeId, { credential: identity.credential, profile, parts });
    },

    shareTraits: share<NodeTraits>,

    shareHardware: share<Hardware>,

    profileOf(report, traits) {
      const last = lastProfiles.get(report);
      if (last?.traits === traits) return last.profile;
      const { models, services, serviceStates, types, languages } = report;
      const text = [models, services, serviceStates, types, languages, traits].map(textOf).join('\n');
      const profile = understood.get(text) ?? share(understand(report, traits, settings.profile));
      understood.set(text, profile);
      lastProfiles.set(report, { traits, profile });
      return profile;
    },

    online,

    measure() {
      for (const health of NODE_HEALTHS) meter.gauge('scheduler_nodes', byHealth[health], { health });
      meter.gauge('scheduler_model_na_marks', marksKnown);
    },
  };
}

const isWorkingSuspect = (node: RegisteredNode): boolean =>
  isSuspect(node.ejection) && node.health.health !== 'offline';

export const capacityOf = (node: RegisteredNode): NodeCapacity => ({
  slots: node.slots,
  isAccepting: isAccepting({ health: node.health.health, isCordoned: node.isCordoned }),
  claim: node.claim,
});

const isStored = (node: RegisteredNode): boolean => node.areOrdersKept && isDeclared(node, capacityOf(node));

/** The ledger ignores what was declared for an earlier connection, so the claim is compared, too. */
const isDeclared = ({ declared }: RegisteredNode, wanted: NodeCapacity): boolean =>
  declared !== undefined &&
  declared.slots === wanted.slots &&
  declared.isAccepting === wanted.isAccepting &&
  declared.claim === wanted.claim;
