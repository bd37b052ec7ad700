/** Composition root: the load and the wanted size of each pool as gauges. They need all instances, so a print shows what the one before asked for. */
import type { ScalingReply } from '@lingua/protocol';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';

/** As the default of GET /api/v1/scaling. */
const TARGET_WAIT_MS = 100;
const ASK_EVERY_MS = 5_000;
/** I11: a metric keeps 200 label sets. Further pools are only in GET /api/v1/scaling. */
const MOST_POOLS = 150;

interface Figures {
  readonly wanted: number;
  readonly load: number;
  readonly oldestWaitMs: number;
}

export function createPoolGauges(deps: {
  readonly clock: Clock;
  readonly meter: Pick<Meter, 'gauge'>;
  readonly log: Log;
  readonly scaling: (targetWaitMs: number) => Promise<ScalingReply>;
}): () => void {
  const { clock, meter, log, scaling } = deps;
  const figures = new Map<string, Figures>();
  let askedAt = Number.NEGATIVE_INFINITY;

  function note(reply: ScalingReply): void {
    // A pool that a reload has removed needs no nodes.
    for (const pool of figures.keys()) figures.set(pool, NOTHING);
    figures.set('all', figuresOf(reply));
    for (const pool of reply.pools.slice(0, MOST_POOLS)) figures.set(`${pool.pool_id}`, figuresOf(pool));
  }

  function ask(): void {
    if (clock.now() - askedAt < ASK_EVERY_MS) return;
    askedAt = clock.now();
    scaling(TARGET_WAIT_MS).then(note, (fault: unknown) =>
      log.warn({ err: fault }, 'cannot compute the load of the pools'),
    );
  }

  return () => {
    for (const [pool, { wanted, load, oldestWaitMs }] of figures) {
      meter.gauge('scheduler_pool_wanted_nodes', wanted, { pool });
      meter.gauge('scheduler_pool_load', load, { pool });
      meter.gauge('scheduler_pool_oldest_wait_seconds', oldestWaitMs / 1_000, { pool });
    }
    ask();
  };
}

const NOTHING: Figures = { wanted: 0, load: 0, oldestWaitMs: 0 };

const figuresOf = ({
  wanted_nodes: wanted,
  load = 0,
  oldest_wait_ms: oldestWaitMs,
}: Pick<ScalingReply, 'wanted_nodes' | 'load' | 'oldest_wait_ms'>): Figures => ({
  wanted,
  load,
  oldestWaitMs,
});
