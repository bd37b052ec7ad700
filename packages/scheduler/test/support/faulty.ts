/** Fault wrapper: any port, slow or failing at chosen calls, over the real adapter. */
import { SchedulerError } from '../../src/domain/errors.ts';
import type { Clock } from '../../src/ports/clock.ts';

/**
 * `throw`: the call never reaches the port. `throw_after_effect`: it does, and then the caller gets an error.
 * `delayMs`: the call reaches the port late. `answerDelayMs`: its answer comes late.
 */
export type Fault =
  | 'throw'
  | 'throw_after_effect'
  | { readonly delayMs: number }
  | { readonly answerDelayMs: number };

export interface FaultRule<Port> {
  /** Absent: any method. */
  readonly method?: MethodOf<Port>;
  /** Which calls, counted from 1: of `method` if given, else of all. Absent: every one. */
  readonly at?: readonly number[];
  readonly fault: Fault;
  /** The thrown error; default SCHEDULER_DEPENDENCY_DOWN. */
  readonly error?: Error;
}

export type MethodOf<Port> = {
  [Key in keyof Port]-?: NonNullable<Port[Key]> extends (...args: never[]) => unknown ? Key : never;
}[keyof Port] &
  string;

export interface Faulty<Port> {
  readonly port: Port;
  /** Calls so far, with or without a fault. */
  calls(method?: MethodOf<Port>): number;
  /** Calls that met a fault so far. */
  struck(method?: MethodOf<Port>): number;
  /** Replaces the rules; `at` still counts from the first call. */
  plan(...rules: FaultRule<Port>[]): void;
  /** From now on nothing fails. */
  heal(): void;
}

/**
 * The first rule that fits a call decides. Methods that answer without a promise must be named in `synchronous`: they
 * throw instead of rejecting, and cannot be slow.
 */
export function faulty<Port extends object>(
  port: Port,
  rules: FaultRule<Port> | readonly FaultRule<Port>[],
  clock: Clock,
  synchronous: readonly MethodOf<Port>[] = [],
): Faulty<Port> {
  let plan: readonly FaultRule<Port>[] = [rules].flat() as FaultRule<Port>[];
  const calls = createCounter();
  const struck = createCounter();
  const wait = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));

  function ruleFor(method: string): FaultRule<Port> | undefined {
    const [ofMethod, ofAll] = [calls.count(method), calls.count()];
    return plan.find((rule) => {
      if (rule.method !== undefined && rule.method !== method) return false;
      return rule.at === undefined || rule.at.includes(rule.method === undefined ? ofAll : ofMethod);
    });
  }

  function wrap(method: MethodOf<Port>, call: (...args: unknown[]) => unknown) {
    const begin = () => {
      calls.add(method);
      const number = calls.count(method);
      const rule = ruleFor(method);
      if (rule !== undefined) struck.add(method);
      const message = `injected fault in call ${number} of ${method}`;
      return { rule, error: rule?.error ?? new SchedulerError('SCHEDULER_DEPENDENCY_DOWN', message) };
    };
    if (synchronous.includes(method))
      return (...args: unknown[]) => {
        const { rule, error } = begin();
        if (rule === undefined) return call(...args);
        if (typeof rule.fault !== 'string')
          throw new TypeError(`${method} is synchronous: it cannot be slow`);
        if (rule.fault === 'throw_after_effect') call(...args);
        throw error;
      };
    return (...args: unknown[]) => {
      const { rule, error } = begin();
      // Without a fault the call goes straight to the port, without an additional turn of the event loop.
      return rule === undefined ? call(...args) : meet(rule.fault, error, () => call(...args));
    };
  }

  async function meet(fault: Fault, error: Error, call: () => unknown): Promise<unknown> {
    if (fault === 'throw') throw error;
    if (fault === 'throw_after_effect') {
      await call();
      throw error;
    }
    if ('delayMs' in fault) {
      await wait(fault.delayMs);
      return call();
    }
    const answer = await call();
    await wait(fault.answerDelayMs);
    return answer;
  }

  const wrapped = new Map<PropertyKey, unknown>();
  return {
    port: new Proxy(port, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        if (!wrapped.has(key))
          wrapped.set(
            key,
            wrap(key as MethodOf<Port>, (...args) => Reflect.apply(value, target, args)),
          );
        return wrapped.get(key);
      },
    }),
    calls: calls.count,
    struck: struck.count,
    plan(...next) {
      plan = next;
    },
    heal() {
      plan = [];
    },
  };
}

function createCounter() {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    add(method: string) {
      total += 1;
      counts.set(method, (counts.get(method) ?? 0) + 1);
    },
    count: (method?: string): number => (method === undefined ? total : (counts.get(method) ?? 0)),
  };
}
