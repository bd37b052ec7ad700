/** A connection that answers every script with the same reply and records the commands. */
import type { RedisConnection } from '../../../../src/adapters/redis/connection/redis-connection.ts';

export interface RecordingConnection {
  readonly connection: RedisConnection;
  /** The keys of each command since the last call of this function. */
  takeCalls(): readonly (readonly string[])[];
}

export function createRecordingConnection(reply: readonly (string | number)[]): RecordingConnection {
  let calls: string[][] = [];
  const evalsha = async (_digest: string, count: number, ...rest: readonly string[]) => {
    calls.push(rest.slice(0, count));
    return reply;
  };
  const withKeys = async (...keys: readonly string[]) => {
    calls.push([...keys]);
    return 0;
  };
  const withKey = async (key: string) => {
    calls.push([key]);
    return 0;
  };
  const pipeline = () => {
    const answers: unknown[] = [];
    return {
      evalsha(digest: string, count: number, ...rest: readonly string[]) {
        void evalsha(digest, count, ...rest);
        answers.push([null, reply]);
      },
      exec: async () => answers,
    };
  };
  const known = {
    evalsha,
    pipeline,
    unlink: withKeys,
    zadd: withKey,
    zrem: withKey,
    zcard: withKey,
    hmget: async (key: string) => {
      await withKey(key);
      return ['credential-1', '1'];
    },
  };
  return {
    connection: known as unknown as RedisConnection,
    takeCalls() {
      const taken = calls;
      calls = [];
      return taken;
    },
  };
}
