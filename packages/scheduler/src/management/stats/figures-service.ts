/**
 * Background actor: samples the figures of this instance once a second, sends them to the other instances, and keeps the history of all. It
 * sends also while no person watches: each instance has the history of the whole cluster before anyone asks for it, for about two
 * kilobytes a second.
 */
import type { Cancel, Clock } from '../../ports/clock.ts';
import { createHistory, type History } from './history.ts';
import { type FiguresPoint, readSummary, type Summary } from './summary.ts';

export interface FiguresService {
  readonly history: Pick<History, 'points' | 'latest' | 'instances'>;
  /** From another instance. What is not a summary is ignored. */
  receive(instanceId: string, given: unknown): void;
  /** Called after each span of one second. */
  onPoint(listen: (point: FiguresPoint) => void): void;
  start(): void;
  stop(): void;
}

const EVERY_MS = 1_000;

export function createFiguresService(deps: {
  readonly clock: Clock;
  /** Of this instance. */
  readonly instanceId: string;
  readonly sample: () => Summary;
  /** To all other instances; absent: there are none. */
  readonly send?: ((summary: Summary) => void) | undefined;
}): FiguresService {
  const { clock } = deps;
  const history = createHistory();
  const listeners: ((point: FiguresPoint) => void)[] = [];
  let cancel: Cancel | undefined;
  let dueAt = 0;

  function endSpan(): void {
    // A late span does not delay the next ones.
    dueAt = Math.max(dueAt + EVERY_MS, clock.now());
    cancel = clock.after(dueAt - clock.now(), endSpan);
    const own = deps.sample();
    deps.send?.(own);
    history.add(deps.instanceId, own, clock.now());
    const point = history.close(clock.now());
    for (const listen of listeners) listen(point);
  }

  return {
    history,
    receive(instanceId, given) {
      const summary = readSummary(given);
      if (summary !== undefined) history.add(instanceId, summary, clock.now());
    },
    onPoint: (listen) => {
      listeners.push(listen);
    },
    start() {
      dueAt = clock.now() + EVERY_MS;
      cancel = clock.after(EVERY_MS, endSpan);
    },
    stop: () => cancel?.(),
  };
}
