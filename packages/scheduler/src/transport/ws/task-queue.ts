/** Hot path: runs the tasks of one connection one after the other, in order. */
import type { Clock } from '../../ports/clock.ts';

export type Task = () => Promise<void> | void;

export interface TaskQueue {
  /** Runs immediately if no task is running. `weight`: bytes the task keeps in memory while it waits. */
  push(task: Task, weight: number): void;
  isFull(): boolean;
}

/**
 * Bounded by pausing the source: `full` is called when too much waits, `eased` when it has fallen to half. The source
 * may still deliver what it had read before.
 */
export function createTaskQueue(deps: {
  maxWaiting: number;
  maxWeight: number;
  full: () => void;
  eased: () => void;
  failed: (fault: unknown) => void;
  clock?: Pick<Clock, 'now'>;
  /** How long a queued task waited. */
  waited?: (ms: number) => void;
}): TaskQueue {
  const { clock, waited } = deps;
  const waiting: { task: Task; weight: number; since: number }[] = [];
  let weight = 0;
  let isBusy = false;
  let isFull = false;

  function begin(task: Task): Promise<void> | undefined {
    try {
      return task() ?? undefined;
    } catch (fault) {
      deps.failed(fault);
      return undefined;
    }
  }

  function take(): Task | undefined {
    const next = waiting.shift();
    if (next === undefined) return undefined;
    weight -= next.weight;
    if (clock !== undefined) waited?.(clock.now() - next.since);
    if (isFull && waiting.length <= deps.maxWaiting / 2 && weight <= deps.maxWeight / 2) {
      isFull = false;
      deps.eased();
    }
    return next.task;
  }

  function run(first: Task): void {
    isBusy = true;
    for (let task: Task | undefined = first; task !== undefined; task = take()) {
      const underWay = begin(task);
      // A task that completes synchronously costs no turn of the event loop.
      if (underWay !== undefined) {
        underWay.catch(deps.failed).then(proceed);
        return;
      }
    }
    isBusy = false;
  }

  function proceed(): void {
    const next = take();
    if (next === undefined) isBusy = false;
    else run(next);
  }

  return {
    push(task, taskWeight) {
      if (!isBusy) {
        run(task);
        return;
      }
      waiting.push({ task, weight: taskWeight, since: clock?.now() ?? 0 });
      weight += taskWeight;
      if (!isFull && (waiting.length >= deps.maxWaiting || weight >= deps.maxWeight)) {
        isFull = true;
        deps.full();
      }
    },
    isFull: () => isFull,
  };
}
