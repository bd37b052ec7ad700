/** Asks now and then whether the machine of the node is about to be taken away, until it is. */
import type { NodeLog, NodeOptions } from './node-options.ts';

export interface Notices {
  start(): void;
  stop(): void;
}

export function createNotices(deps: {
  /** Absent: nothing is asked. */
  readonly ask: NodeOptions['leavingInMs'];
  readonly intervalMs: number;
  readonly leave: (inMs: number) => void;
  readonly log: Pick<NodeLog, 'warn' | 'error'>;
}): Notices {
  const { ask, log } = deps;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let hasFailed = false;

  async function look(): Promise<void> {
    const inMs = await answer();
    if (isStopped) return;
    if (inMs === undefined) {
      timer = setTimeout(look, deps.intervalMs);
      // It keeps no program alive.
      timer.unref();
      return;
    }
    log.warn({ leaving_in_ms: inMs }, 'the machine is about to be taken away; the node drains');
    deps.leave(inMs);
  }

  async function answer(): Promise<number | undefined> {
    try {
      const inMs = await ask?.();
      hasFailed = false;
      return typeof inMs === 'number' && inMs >= 0 ? inMs : undefined;
    } catch (error) {
      if (!hasFailed) log.error({ error }, 'the leavingInMs callback failed; it is asked again');
      hasFailed = true;
      return undefined;
    }
  }

  return {
    start() {
      if (ask !== undefined) void look();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
