/** Statistics of instances that share one process: for tests, and the readable specification of the Redis one. */
import type { Clock } from '../../ports/clock.ts';
import type { StatsBoard } from '../../ports/stats-board.ts';

export function createStatsBoard(deps: { clock: Clock }): StatsBoard {
  const { clock } = deps;
  const parts = new Map<string, { text: string; expiresAt: number }>();
  let published: { text: string; expiresAt: number } | undefined;
  return {
    async write(instanceId, text, ttlMs) {
      const now = clock.now();
      for (const [name, { expiresAt }] of parts) if (expiresAt <= now) parts.delete(name);
      parts.set(instanceId, { text, expiresAt: now + ttlMs });
    },
    async read(instanceId) {
      const found = parts.get(instanceId);
      return found !== undefined && found.expiresAt > clock.now() ? found.text : undefined;
    },
    async publish(text, ttlMs) {
      published = { text, expiresAt: clock.now() + ttlMs };
    },
    async latest() {
      if (published === undefined) return undefined;
      const leftMs = published.expiresAt - clock.now();
      return leftMs > 0 ? { text: published.text, leftMs } : undefined;
    },
  };
}
