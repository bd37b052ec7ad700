/** Typed wrapper of page-nodes.lua: one part of the index after the other, one script per page. Cold path. */
import type { NodePage } from '../../../ports/node-records.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import { type Keys, NODE_PARTS } from '../keys.ts';

interface Place {
  readonly part: number;
  readonly score: string;
  readonly after: string;
}

export function createPageNodes(connection: RedisConnection, keys: Keys, forgetAfterMs: number) {
  const run = loadScript(connection, import.meta.url, 'page-nodes');
  return async (cursor: string | undefined, max: number): Promise<NodePage> => {
    const { part, score, after } = placeOf(cursor);
    try {
      const [, last, ...ids] = await run([keys.nodesSeen(part)], [max, forgetAfterMs, score, after]);
      const nodeIds = ids.map(String);
      const place = { part, score: String(last), after: nodeIds.at(-1) ?? '' };
      return { nodeIds, cursor: nodeIds.length < max ? nextPart(part) : cursorOf(place), isWhole: true };
    } catch {
      // The other parts may be on shards that answer.
      return { nodeIds: [], cursor: nextPart(part), isWhole: false };
    }
  };
}

const nextPart = (part: number): string | undefined =>
  part + 1 < NODE_PARTS ? cursorOf({ part: part + 1, score: '', after: '' }) : undefined;

const cursorOf = ({ part, score, after }: Place): string => `${part} ${score} ${after}`;

function placeOf(cursor: string | undefined): Place {
  const [, part = '0', score = '', after = ''] = /^(\d+) (\S*) (.*)$/s.exec(cursor ?? '') ?? [];
  return { part: Number(part), score, after };
}
