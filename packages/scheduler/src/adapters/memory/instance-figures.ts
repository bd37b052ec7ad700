/** Figures of instances that share one process: for the simulator and for tests, and the readable specification of the Redis one. */
import type { Clock } from '../../ports/clock.ts';
import type { Figures, InstanceFigures } from '../../ports/instance-figures.ts';

export function createInstanceFigures(deps: { clock: Clock }): InstanceFigures {
  const written = new Map<string, { figures: Figures; expiresAt: number }>();
  return {
    async write(instanceId, figures, ttlMs) {
      const now = deps.clock.now();
      for (const [name, { expiresAt }] of written) if (expiresAt <= now) written.delete(name);
      written.set(instanceId, { figures: { ...figures }, expiresAt: now + ttlMs });
    },
    async read(instanceId) {
      const found = written.get(instanceId);
      return found !== undefined && found.expiresAt > deps.clock.now() ? found.figures : undefined;
    },
  };
}
