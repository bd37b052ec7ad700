/**
 * Simulation: what an instance tells the indexes of its jobs. A job that begins is written at once; what ended goes along with the
 * next that begins, or by itself after a while, and is told again if that fails.
 */
import type { JobId } from '../../../domain/ids.ts';
import type { Cancel, Clock } from '../../../ports/clock.ts';
import type { IndexChanges, Position } from './index-scripts.ts';

export interface JobIndex {
  begin(jobId: JobId, deadlineAt: number): Promise<void>;
  end(jobId: JobId, deadlineAt: number): void;
  drop(jobId: JobId): void;
  flush(): Promise<void>;
}

const LATER_MS = 50;
const MOST_AT_ONCE = 128;
const MOST_WAITING = 20_000;
const NONE: readonly Position[] = [];

export function createJobIndex(deps: {
  clock: Clock;
  write: (changes: IndexChanges) => Promise<void>;
}): JobIndex {
  /** Deadline of those that ended; undefined for those that never were. */
  const waiting = new Map<JobId, number | undefined>();
  /** On their way. */
  const flying = new Set<Map<JobId, number | undefined>>();
  let cancel: Cancel | undefined;

  function takeSome(): Map<JobId, number | undefined> {
    const some = new Map<JobId, number | undefined>();
    for (const [jobId, deadlineAt] of waiting) {
      if (some.size === MOST_AT_ONCE) break;
      some.set(jobId, deadlineAt);
      waiting.delete(jobId);
    }
    return some;
  }

  async function write(begun: readonly Position[]): Promise<void> {
    cancel?.();
    cancel = undefined;
    const others = takeSome();
    later();
    flying.add(others);
    const ended: Position[] = [];
    const dropped: JobId[] = [];
    for (const [jobId, deadlineAt] of others) {
      if (deadlineAt === undefined) dropped.push(jobId);
      else ended.push({ jobId, deadlineAt });
    }
    try {
      await deps.write({ begun, ended, dropped });
    } catch (fault) {
      // Not at once: a store that refuses at once would be asked for ever.
      for (const [jobId, deadlineAt] of others) if (hasRoom()) waiting.set(jobId, deadlineAt);
      later();
      throw fault;
    } finally {
      flying.delete(others);
    }
  }

  // It is written again with what comes next, so nobody has to hear of it.
  const writeRest = (): void => void write(NONE).catch(() => undefined);

  function later(): void {
    if (waiting.size > 0) cancel ??= deps.clock.after(LATER_MS, writeRest);
  }

  const hasRoom = (): boolean => waiting.size < MOST_WAITING;

  function note(jobId: JobId, deadlineAt: number | undefined): void {
    if (!hasRoom()) return;
    waiting.set(jobId, deadlineAt);
    if (waiting.size === MOST_AT_ONCE) writeRest();
    else later();
  }

  return {
    begin(jobId, deadlineAt) {
      waiting.delete(jobId);
      for (const some of flying) some.delete(jobId);
      return write([{ jobId, deadlineAt }]);
    },
    end(jobId, deadlineAt) {
      if (waiting.get(jobId) === undefined) note(jobId, deadlineAt);
    },
    drop: (jobId) => note(jobId, undefined),
    async flush() {
      try {
        while (waiting.size > 0) await write(NONE);
      } finally {
        cancel?.();
        cancel = undefined;
      }
    },
  };
}
