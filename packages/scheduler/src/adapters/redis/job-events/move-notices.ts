/**
 * Notices from one instance to another that a job has moved. They carry the job's id alone and may be lost: results never go by
 * pub/sub, and whoever waits looks for himself now and then. One channel per instance, so that waiting subscribes nothing.
 */
import type { JobId } from '../../../domain/ids.ts';
import type { Keys } from '../keys.ts';
import type { RedisConnection } from '../redis-connection.ts';

export interface MoveNotices {
  /** Safe to call often; from its end on notices are heard. */
  listen(): Promise<void>;
  send(instanceId: string, jobId: JobId): void;
  close(): Promise<void>;
}

/** `ear`: a connection that only listens. It may be shared with others that do. */
export function createMoveNotices(deps: {
  connection: RedisConnection;
  ear: RedisConnection;
  keys: Keys;
  instanceId: string;
  onMoved: (jobId: JobId) => void;
}): MoveNotices {
  const { connection, ear, keys } = deps;
  const own = keys.instanceMoves(deps.instanceId);
  /** A server before sharded channels has only those that every server hears. */
  let isSharded = true;
  let listening: Promise<void> | undefined;

  const hear = (channel: string, jobId: string): void => {
    if (channel === own) deps.onMoved(jobId);
  };
  ear.on('smessage', hear);
  ear.on('message', hear);

  /** Sharded if the server has it. */
  async function eitherWay(sharded: () => Promise<unknown>, plain: () => Promise<unknown>): Promise<void> {
    if (isSharded) {
      try {
        await sharded();
        return;
      } catch (fault) {
        if (!isUnknownCommand(fault)) throw fault;
        isSharded = false;
      }
    }
    await plain();
  }

  return {
    listen() {
      listening ??= eitherWay(
        () => ear.ssubscribe(own),
        () => ear.subscribe(own),
      ).catch((fault: unknown) => {
        listening = undefined;
        throw fault;
      });
      return listening;
    },

    send(instanceId, jobId) {
      const channel = keys.instanceMoves(instanceId);
      // A lost notice is found by looking.
      eitherWay(
        () => connection.spublish(channel, jobId),
        () => connection.publish(channel, jobId),
      ).catch(() => {});
    },

    async close() {
      ear.off('smessage', hear);
      ear.off('message', hear);
      if (listening === undefined) return;
      listening = undefined;
      // If this is not heard, notices nobody listens to are the worst of it.
      await (isSharded ? ear.sunsubscribe(own) : ear.unsubscribe(own)).catch(() => undefined);
    },
  };
}

const isUnknownCommand = (fault: unknown): boolean =>
  fault instanceof Error && /unknown command/i.test(fault.message);
