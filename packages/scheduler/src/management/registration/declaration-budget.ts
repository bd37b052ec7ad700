/**
 * Cold path: how much the nodes of one credential, and all nodes together, may declare. Registrations, heartbeats and the replica of
 * other instances' nodes ask here, so that made-up languages and services cannot fill the memory of an instance (I11).
 *
 * Equal reports are one object and count once: a large fleet has few kinds of nodes.
 */
import { bytesOf, bytesOfProfile, NODE_BYTES } from '../../domain/declared-bytes.ts';
import type { NodeId } from '../../domain/ids.ts';
import type { NodeProfile } from '../../domain/profile.ts';
import type { Meter } from '../../ports/meter.ts';

/** Bytes are estimated (domain/declared-bytes.ts). */
export interface DeclarationLimits {
  readonly nodeBytes: number;
  readonly credentialBytes: number;
  readonly fleetBytes: number;
  readonly credentialNodes: number;
}

export interface Declaration {
  readonly credential: string;
  readonly profile: NodeProfile;
  /** Everything else that is kept of the node. Compared by identity, and never changed afterwards. */
  readonly parts: readonly (object | undefined)[];
}

/** `message` names the limit and the fix. */
export interface Excess {
  readonly limit: 'node' | 'credential' | 'fleet' | 'credential_nodes';
  readonly message: string;
}

export interface NodeBudget {
  /** Counts this declaration in place of the node's earlier one. If it exceeds a limit, nothing changes. */
  declare(nodeId: NodeId, declaration: Declaration): Excess | undefined;
  drop(nodeId: NodeId): void;
}

export interface DeclarationBudget {
  /** Nodes that are registered at this instance. */
  readonly own: NodeBudget;
  /** Nodes of other instances. */
  readonly others: NodeBudget;
  /** Bytes of all nodes. */
  bytes(): number;
}

interface Entry {
  readonly side: 'own' | 'others';
  readonly credential: string;
  readonly objects: readonly object[];
}

interface Account {
  nodes: number;
  bytes: number;
  /** How many nodes declare each object. */
  readonly uses: Map<object, number>;
}

const newAccount = (): Account => ({ nodes: 0, bytes: 0, uses: new Map() });

export function createDeclarationBudget(deps: {
  limits: DeclarationLimits;
  meter: Pick<Meter, 'count'>;
}): DeclarationBudget {
  const { limits, meter } = deps;
  const weights = new WeakMap<object, number>();
  const entries = new Map<NodeId, Entry>();
  const fleet = newAccount();
  const credentials = new Map<string, Account>();

  function weigh(object: object, measure: () => number): object {
    if (!weights.has(object)) weights.set(object, measure());
    return object;
  }

  const weightOf = (object: object): number => weights.get(object) ?? 0;

  function add({ credential, objects }: Entry): Account {
    const account = credentials.get(credential) ?? newAccount();
    credentials.set(credential, account);
    for (const each of [account, fleet]) {
      each.nodes += 1;
      each.bytes += NODE_BYTES;
      for (const object of objects) {
        const uses = each.uses.get(object) ?? 0;
        each.uses.set(object, uses + 1);
        if (uses === 0) each.bytes += weightOf(object);
      }
    }
    return account;
  }

  function remove({ credential, objects }: Entry): void {
    const account = credentials.get(credential);
    if (account === undefined) return;
    for (const each of [account, fleet]) {
      each.nodes -= 1;
      each.bytes -= NODE_BYTES;
      for (const object of objects) {
        const uses = (each.uses.get(object) ?? 1) - 1;
        if (uses > 0) each.uses.set(object, uses);
        else {
          each.uses.delete(object);
          each.bytes -= weightOf(object);
        }
      }
    }
    if (account.nodes === 0) credentials.delete(credential);
  }

  function excessOf(nodeBytes: number, account: Account): Excess | undefined {
    if (nodeBytes > limits.nodeBytes) return excess('node', nodeBytes, limits.nodeBytes);
    if (account.nodes > limits.credentialNodes) {
      const message = `the nodes of this credential are ${limits.credentialNodes}, the limit (scheduler.max_nodes and scheduler.declarations.max_credential_percent): remove some, or have the limit raised`;
      return { limit: 'credential_nodes', message };
    }
    if (account.bytes > limits.credentialBytes)
      return excess('credential', account.bytes, limits.credentialBytes);
    return fleet.bytes > limits.fleetBytes ? excess('fleet', fleet.bytes, limits.fleetBytes) : undefined;
  }

  const sideOf = (side: Entry['side']): NodeBudget => ({
    declare(nodeId, { credential, profile, parts }) {
      const objects = [weigh(profile, () => bytesOfProfile(profile))];
      for (const part of parts) if (part !== undefined) objects.push(weigh(part, () => bytesOf(part)));
      const entry: Entry = { side, credential, objects };
      const before = entries.get(nodeId);
      if (before !== undefined) remove(before);
      const account = add(entry);
      const nodeBytes = objects.reduce((sum, object) => sum + weightOf(object), NODE_BYTES);
      const found = excessOf(nodeBytes, account);
      if (found === undefined) {
        entries.set(nodeId, entry);
        return undefined;
      }
      remove(entry);
      if (before !== undefined) add(before);
      meter.count('scheduler_declarations_refused_total', { limit: found.limit });
      return found;
    },
    drop(nodeId) {
      const entry = entries.get(nodeId);
      // The node may have moved between this instance and another one: then the later declaration stays.
      if (entry?.side !== side) return;
      entries.delete(nodeId);
      remove(entry);
    },
  });

  return { own: sideOf('own'), others: sideOf('others'), bytes: () => fleet.bytes };
}

const SUBJECTS = {
  node: ['this node', 'max_node_bytes'],
  credential: ['the nodes of this credential', 'max_credential_percent'],
  fleet: ['all nodes', 'max_bytes'],
} as const;

function excess(limit: keyof typeof SUBJECTS, bytes: number, most: number): Excess {
  const [who, setting] = SUBJECTS[limit];
  const message =
    `the languages, directions, services and models that ${who} would declare need about ${bytes} bytes of memory; ` +
    `the limit is ${most} (scheduler.declarations.${setting}): declare fewer, describe directions by rules (any_to_any), or have the limit raised`;
  return { limit, message };
}
