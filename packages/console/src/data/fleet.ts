/** All nodes of the cluster as the feed last described them. Pure apart from the given map, which it changes in place. */
export const NODE_COLUMNS = [
  'node_id',
  'status',
  'used',
  'slots',
  'cordoned',
  'ejected',
  'instance_id',
  'region',
  'zone',
  'version',
  'pools',
  'platform',
  'order_reason',
] as const;

export interface FleetNode {
  readonly id: string;
  status: string;
  used: number;
  slots: number;
  cordoned: boolean;
  ejected: boolean;
  instance: string;
  region: string;
  zone: string;
  version: string;
  pools: readonly string[];
  platform: string;
  /** Why an operator cordoned or drained it. */
  orderReason: string;
}

export type NodeRow = readonly unknown[];

export interface FleetChange {
  readonly loads?: readonly (readonly [id: string, used: number, slots: number])[];
  readonly nodes?: readonly NodeRow[];
  readonly removed?: readonly string[];
}

export type Fleet = Map<string, FleetNode>;

export function fleetOf(columns: readonly string[], rows: readonly NodeRow[]): Fleet {
  return new Map(rows.map((row) => toNode(columns, row)).map((node) => [node.id, node]));
}

export function applyChange(fleet: Fleet, columns: readonly string[], change: FleetChange): void {
  for (const row of change.nodes ?? []) {
    const node = toNode(columns, row);
    fleet.set(node.id, node);
  }
  for (const [id, used, slots] of change.loads ?? []) {
    const node = fleet.get(id);
    if (node === undefined) continue;
    node.used = used;
    node.slots = slots;
  }
  for (const id of change.removed ?? []) fleet.delete(id);
}

/** The server names the columns, so that it can add some. */
function toNode(columns: readonly string[], row: NodeRow): FleetNode {
  const at = (name: (typeof NODE_COLUMNS)[number]): unknown => row[columns.indexOf(name)];
  const text = (name: (typeof NODE_COLUMNS)[number]): string => String(at(name) ?? '');
  return {
    id: text('node_id'),
    status: text('status'),
    used: Number(at('used') ?? 0),
    slots: Number(at('slots') ?? 0),
    cordoned: at('cordoned') === true,
    ejected: at('ejected') === true,
    instance: text('instance_id'),
    region: text('region'),
    zone: text('zone'),
    version: text('version'),
    pools: (at('pools') as readonly string[] | undefined) ?? [],
    platform: text('platform'),
    orderReason: text('order_reason'),
  };
}

/** What decides the colour of a node: an order of an operator or a fault comes before its load. */
export type Health =
  | 'ready'
  | 'full'
  | 'cordoned'
  | 'ejected'
  | 'degraded'
  | 'draining'
  | 'registering'
  | 'offline';

export function healthOf(node: FleetNode): Health {
  if (node.status === 'offline') return 'offline';
  if (node.ejected) return 'ejected';
  if (node.status === 'draining') return 'draining';
  if (node.cordoned) return 'cordoned';
  if (node.status === 'degraded' || node.status === 'registering') return node.status;
  return node.slots > 0 && node.used >= node.slots ? 'full' : 'ready';
}
