/** Simulation: the ids of all nodes, one part of their index after the other, longest unseen first. Cold path. */
import type { NodePage } from '../../../scheduler/dist/ports/node-records.js';
import type { Lines } from './servers/lines.ts';
import type { Shard } from './servers/shard.ts';
import { keys, NODE_PARTS, tags } from './servers/tags.ts';

interface Place {
  readonly part: number;
  /** When the last node named was seen, and its id. */
  readonly seenAt: number;
  readonly after: string;
}

export async function pageNodes(
  lines: Lines,
  cursor: string | undefined,
  max: number,
  forgetAfterMs: number,
): Promise<NodePage> {
  const place = placeOf(cursor);
  try {
    const found = await lines.ask(tags.key(keys.nodesSeen(place.part)), 'page-nodes', (shard) =>
      page(shard, place, max, forgetAfterMs),
    );
    const last = found.at(-1);
    const isOver = last === undefined || found.length < max;
    return {
      nodeIds: found.map(([nodeId]) => nodeId),
      cursor: isOver ? nextPart(place.part) : `${place.part} ${last[1]} ${last[0]}`,
      isWhole: true,
    };
  } catch {
    // The other parts lie on shards that may answer.
    return { nodeIds: [], cursor: nextPart(place.part), isWhole: false };
  }
}

function page(
  { state, now }: Shard,
  { part, seenAt, after }: Place,
  max: number,
  forgetAfterMs: number,
): readonly (readonly [nodeId: string, seenAt: number])[] {
  const seen = state.names.get(keys.nodesSeen(part), now()) ?? new Map<string, number>();
  const listed = [...seen].sort(([one, first], [other, second]) => first - second || (one < other ? -1 : 1));
  const gone = listed.filter(([, at]) => at <= now() - forgetAfterMs).slice(0, max);
  for (const [nodeId] of gone) seen.delete(nodeId);
  const left = listed.filter(([nodeId]) => seen.has(nodeId));
  // If the last node was seen again meanwhile, its place in the order is lost: all nodes with the same time are named again, so that
  // none is left out.
  const from =
    seen.get(after) === seenAt
      ? left.findIndex(([nodeId]) => nodeId === after) + 1
      : left.filter(([, at]) => at < seenAt).length;
  return left.slice(from, from + max);
}

const nextPart = (part: number): string | undefined => (part + 1 < NODE_PARTS ? `${part + 1}  ` : undefined);

function placeOf(cursor: string | undefined): Place {
  const [, part = '0', seenAt = '', after = ''] = /^(\d+) (\S*) (.*)$/s.exec(cursor ?? '') ?? [];
  return { part: Number(part), seenAt: seenAt === '' ? Number.NEGATIVE_INFINITY : Number(seenAt), after };
}
