/**
 * Cold path: the nodes of all instances as rows of JSON text, and which rows changed since the last look. A row is printed again only if its
 * node changed; loads, which change most, are kept apart from the rest of the row.
 */
import type { NodeId } from '../../../domain/ids.ts';
import type { NodeView } from '../../../domain/node.ts';
import type { FleetView } from '../../../runtime/fleet/fleet-view.ts';

/** What the fleet view does not know of a node; unknown texts are empty. */
export interface NodeOrigin {
  readonly instanceId: string;
  readonly region: string;
  readonly zone: string;
  readonly version: string;
  readonly platform: string;
}

/** JSON texts, without the brackets of their lists. */
export interface RowChanges {
  readonly loads: readonly string[];
  readonly nodes: readonly string[];
  readonly removed: readonly string[];
}

export interface NodeRows {
  /** Reads the fleet, some nodes at a time. */
  update(): Generator<void, RowChanges>;
  /** All rows as of the last update, some nodes at a time. */
  all(): Generator<void, readonly string[]>;
  clear(): void;
}

interface Row {
  readonly id: string;
  readonly view: NodeView;
  readonly head: string;
  readonly tail: string;
  used: number;
  max: number;
}

/** Nodes per slice: a printed row takes some microseconds. */
const SLICE = 500;

export function createNodeRows(deps: {
  readonly fleet: Pick<FleetView, 'table' | 'pools' | 'view'>;
  readonly originOf: (nodeId: NodeId) => NodeOrigin;
  readonly poolName: (poolId: number) => string;
}): NodeRows {
  const { fleet } = deps;
  /** By the number of the node. */
  const rows: (Row | undefined)[] = [];
  let pools = fleet.pools;

  function print(index: number, view: NodeView): Row {
    const { columns, pools: poolIndex } = fleet.table;
    const { instanceId, region, zone, version, platform } = deps.originOf(view.nodeId);
    const names = (poolIndex?.of(index) ?? []).map(deps.poolName);
    const { isCordoned, isEjected, orderReason = '' } = view;
    const rest = [isCordoned, isEjected, instanceId, region, zone, version, platform, names, orderReason];
    const id = JSON.stringify(view.nodeId);
    return {
      id,
      view,
      head: `[${id},"${view.health}",`,
      tail: `,${JSON.stringify(rest).slice(1)}`,
      used: columns.used[index] as number,
      max: columns.max[index] as number,
    };
  }

  const printed = ({ head, used, max, tail }: Row): string => `${head}${used},${max}${tail}`;

  return {
    *update() {
      const loads: string[] = [];
      const nodes: string[] = [];
      const removed = new Set<string>();
      const printedIds = new Set<string>();
      // Another pool map puts every node into other pools.
      if (fleet.pools !== pools) rows.fill(undefined);
      pools = fleet.pools;
      const { columns } = fleet.table;
      for (let index = 0; index < Math.max(columns.ids.length, rows.length); index++) {
        if (index > 0 && index % SLICE === 0) yield;
        const nodeId = columns.ids[index];
        const view = nodeId === undefined ? undefined : fleet.view(nodeId);
        const row = rows[index];
        // The number may belong to another node now.
        if (row !== undefined && row.view.nodeId !== nodeId) removed.add(row.id);
        if (view === undefined) {
          rows[index] = undefined;
        } else if (row?.view !== view) {
          const fresh = print(index, view);
          rows[index] = fresh;
          printedIds.add(fresh.id);
          nodes.push(printed(fresh));
        } else {
          const used = columns.used[index] as number;
          const max = columns.max[index] as number;
          if (row.used === used && row.max === max) continue;
          row.used = used;
          row.max = max;
          loads.push(`[${row.id},${used},${max}]`);
        }
      }
      // A node that has another number now is not gone.
      return { loads, nodes, removed: [...removed].filter((id) => !printedIds.has(id)) };
    },
    *all() {
      const texts: string[] = [];
      for (const [index, row] of rows.entries()) {
        if (index > 0 && index % SLICE === 0) yield;
        if (row !== undefined) texts.push(printed(row));
      }
      return texts;
    },
    clear() {
      rows.length = 0;
    },
  };
}
