/** Chaos wrapper: any port whose calls are slow and fail by seeded chance, over the real adapter. */
import { SchedulerError } from '../../src/domain/errors.ts';
import type { Chance } from '../../src/ports/chance.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { MethodOf } from './faulty.ts';

export interface Chaos {
  /** A call takes up to this long to reach the port, and its answer as long to come back. 0: neither waits. */
  readonly maxDelayMs: number;
  /** Which part of the calls fails: half of those before their effect, half after it. At 0 the port works again. */
  failRate: number;
  readonly chance: Chance;
}

/**
 * Like one connection: calls take effect in the order in which they were made, and answers come in that order. Only the
 * named methods, which must return a promise, are affected.
 */
export function chaotic<Port extends object>(
  port: Port,
  methods: readonly MethodOf<Port>[],
  clock: Clock,
  chaos: Chaos,
): Port {
  const effects = createLine(clock);
  const answers = createLine(clock);

  async function meet(method: string, call: () => unknown): Promise<unknown> {
    const beforeMs = Math.floor(chaos.chance() * chaos.maxDelayMs);
    const afterMs = Math.floor(chaos.chance() * chaos.maxDelayMs);
    const luck = chaos.chance();
    const { failRate } = chaos;
    if (chaos.maxDelayMs > 0) await effects.pass(beforeMs);
    if (luck < failRate / 2) throw down(`${method} failed`);
    const answer = await call();
    if (chaos.maxDelayMs > 0) await answers.pass(afterMs);
    if (luck < failRate) throw down(`${method} failed after its effect`);
    return answer;
  }

  const isChaotic = (key: PropertyKey): key is MethodOf<Port> =>
    (methods as readonly PropertyKey[]).includes(key);

  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function' || !isChaotic(key)) return value;
      return (...args: unknown[]) => meet(key, () => Reflect.apply(value, target, args));
    },
  });
}

const down = (what: string) => new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', `by chance, ${what}`);

/** Keeps the order of calls. */
function createLine(clock: Clock) {
  let lastAt = 0;
  return {
    pass(delayMs: number): Promise<void> {
      lastAt = Math.max(lastAt, clock.now() + delayMs);
      return new Promise((resolve) => clock.after(lastAt - clock.now(), resolve));
    },
  };
}
