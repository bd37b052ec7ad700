/** Mailboxes of polling nodes, in this process. */
import type { NodeId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MailboxEntry, NodeMailbox } from '../../ports/node-mailbox.ts';
import type { MemoryCapacityLedger } from './capacity-ledger.ts';

interface Box<T> {
  entries: MailboxEntry<T>[];
  /** Wakes one waiting take after another, oldest first. */
  readonly waiting: Set<() => void>;
}

/** The mailboxes of one process also report how full they are. */
export interface MemoryNodeMailbox<T> extends NodeMailbox<T> {
  /** Jobs in total, and in the fullest mailbox. */
  levels(): { readonly jobs: number; readonly most: number };
}

export function createNodeMailbox<T>(deps: {
  clock: Clock;
  maxPerNode: number;
  /** The ledger of this process. */
  ledger: Pick<MemoryCapacityLedger, 'commit'>;
}): MemoryNodeMailbox<T> {
  const boxes = new Map<NodeId, Box<T>>();

  function open(nodeId: NodeId): Box<T> {
    const box = boxes.get(nodeId) ?? { entries: [], waiting: new Set() };
    boxes.set(nodeId, box);
    return box;
  }

  function closeIfIdle(nodeId: NodeId, box: Box<T>): void {
    if (box.entries.length === 0 && box.waiting.size === 0 && boxes.get(nodeId) === box) boxes.delete(nodeId);
  }

  function dropExpired(box: Box<T>): void {
    const now = deps.clock.now();
    if (box.entries.some((entry) => entry.expiresAt <= now)) {
      box.entries = box.entries.filter((entry) => entry.expiresAt > now);
    }
  }

  /** Commits the leases of the entries that are about to be handed out, and drops those whose lease has ended or was abandoned. */
  function commitOldest(nodeId: NodeId, { entries }: Box<T>, max: number): void {
    for (let at = 0; at < Math.min(max, entries.length); ) {
      const { slot } = entries[at] as MailboxEntry<T>;
      if (slot === undefined || deps.ledger.commit(nodeId, slot.lease, slot.ttlMs).kind === 'committed')
        at += 1;
      else entries.splice(at, 1);
    }
  }

  function wakeOne(box: Box<T>): void {
    const [wake] = box.waiting;
    wake?.();
  }

  function arrival(box: Box<T>, waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        box.waiting.delete(wake);
        cancel();
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = deps.clock.after(waitMs, wake);
      box.waiting.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  return {
    async put(nodeId, entry) {
      const box = open(nodeId);
      dropExpired(box);
      if (box.entries.length >= deps.maxPerNode) return 'full';
      box.entries.push(entry);
      wakeOne(box);
      return 'queued';
    },

    async take(nodeId, { max, waitMs, signal }) {
      const until = deps.clock.now() + waitMs;
      let box = open(nodeId);
      dropExpired(box);
      if (!isAborted(signal)) commitOldest(nodeId, box, max);
      // Another take may have been faster after a wake-up: then wait for the rest of the time.
      while (box.entries.length === 0 && !isAborted(signal) && deps.clock.now() < until) {
        await arrival(box, until - deps.clock.now(), signal);
        box = open(nodeId);
        dropExpired(box);
        if (!isAborted(signal)) commitOldest(nodeId, box, max);
      }
      const taken = isAborted(signal) ? [] : box.entries.splice(0, max);
      // A take that leaves entries, or was woken for nothing, wakes the next one.
      if (box.entries.length > 0) wakeOne(box);
      closeIfIdle(nodeId, box);
      return taken;
    },

    async drop(nodeId, jobId) {
      const box = boxes.get(nodeId);
      const at = box?.entries.findIndex((entry) => entry.jobId === jobId) ?? -1;
      if (box === undefined || at < 0) return false;
      box.entries.splice(at, 1);
      closeIfIdle(nodeId, box);
      return true;
    },

    async forget(nodeId) {
      const box = boxes.get(nodeId);
      if (box === undefined) return;
      box.entries = [];
      closeIfIdle(nodeId, box);
    },

    levels() {
      let jobs = 0;
      let most = 0;
      for (const { entries } of boxes.values()) {
        jobs += entries.length;
        most = Math.max(most, entries.length);
      }
      return { jobs, most };
    },
  };
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;
