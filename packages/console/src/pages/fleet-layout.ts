/** Where each node's block is on the canvas, and which nodes a filter keeps. Pure. */
import { type FleetNode, type Health, healthOf } from '../data/fleet.ts';

export const GROUPINGS = ['none', 'pool', 'region', 'health', 'version', 'instance'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Large blocks for few nodes, small ones for many. */
const SIZES = [
  { most: 24, size: 92, gap: 8 },
  { most: 120, size: 56, gap: 6 },
  { most: 600, size: 32, gap: 4 },
  { most: 2_500, size: 20, gap: 3 },
  { most: Number.POSITIVE_INFINITY, size: 12, gap: 2 },
];
const HEADING = 30;
const BETWEEN_GROUPS = 14;

export interface Block {
  readonly node: FleetNode;
  readonly x: number;
  readonly y: number;
}

export interface Heading {
  readonly name: string;
  readonly nodes: number;
  readonly used: number;
  readonly slots: number;
  readonly y: number;
}

export interface FleetLayout {
  readonly blocks: readonly Block[];
  readonly headings: readonly Heading[];
  readonly size: number;
  readonly gap: number;
  readonly height: number;
}

const inOrder = new Intl.Collator('en', { numeric: true }).compare;

/** `name` is empty for a node without one. */
function groupOf(node: FleetNode, grouping: Grouping): string {
  if (grouping === 'pool') return node.pools.join(', ');
  if (grouping === 'health') return healthOf(node);
  return grouping === 'none' ? '' : node[grouping];
}

export function matches(node: FleetNode, words: string, health: string): boolean {
  if (health !== '' && healthOf(node) !== (health as Health)) return false;
  const text = [
    node.id,
    node.region,
    node.zone,
    node.version,
    node.platform,
    node.instance,
    node.orderReason,
    ...node.pools,
  ].join(' ');
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));
}

export function layOut(nodes: readonly FleetNode[], grouping: Grouping, width: number): FleetLayout {
  const { size, gap } = SIZES.find(({ most }) => nodes.length <= most) ?? { size: 12, gap: 2 };
  const perRow = Math.max(1, Math.floor((width + gap) / (size + gap)));
  const groups = new Map<string, FleetNode[]>();
  for (const node of nodes) {
    const name = groupOf(node, grouping);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [node]);
    else group.push(node);
  }
  const blocks: Block[] = [];
  const headings: Heading[] = [];
  let y = 0;
  for (const [name, members] of [...groups].sort(([a], [b]) => inOrder(a, b))) {
    members.sort((a, b) => inOrder(a.id, b.id));
    if (grouping !== 'none') {
      const used = members.reduce((sum, node) => sum + node.used, 0);
      const slots = members.reduce((sum, node) => sum + node.slots, 0);
      headings.push({ name, nodes: members.length, used, slots, y });
      y += HEADING;
    }
    for (const [index, node] of members.entries()) {
      const row = Math.floor(index / perRow);
      blocks.push({ node, x: (index % perRow) * (size + gap), y: y + row * (size + gap) });
    }
    y += Math.ceil(members.length / perRow) * (size + gap) + BETWEEN_GROUPS;
  }
  return { blocks, headings, size, gap, height: Math.max(size, y - BETWEEN_GROUPS) };
}

/** The block under a point, by its place in the order, since blocks may be many. */
export function blockAt({ blocks, size }: FleetLayout, x: number, y: number): Block | undefined {
  return blocks.find((block) => x >= block.x && x < block.x + size && y >= block.y && y < block.y + size);
}

/** The longest form that fits: names of nodes often differ only at their end, so that the middle is left out. */
export function shorten(name: string, fits: (text: string) => boolean): string {
  for (let kept = name.length; kept > 1; kept -= 1) {
    const head = Math.floor(kept / 2);
    const text = kept === name.length ? name : `${name.slice(0, head)}…${name.slice(head - kept)}`;
    if (fits(text)) return text;
  }
  return '…';
}
