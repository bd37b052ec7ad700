/** How many round trips follow one another, while one thing happens at a time. */
import type { Command } from 'ioredis';
import type { RedisConnection } from '../../../packages/scheduler/dist/adapters/redis/connection/redis-connection.js';

export interface RoundTrips {
  begin(): void;
  /** The longest chain of commands so far, each sent after a reply to the one before. */
  sofar(): number;
}

export function watchRoundTrips(connection: RedisConnection): RoundTrips {
  let longest = 0;
  const send = connection.sendCommand.bind(connection);
  connection.sendCommand = (command: Command, ...rest: []) => {
    // It may depend on every reply received so far.
    const depth = longest + 1;
    const note = (): void => {
      longest = Math.max(longest, depth);
    };
    command.promise.then(note, note);
    return send(command, ...rest);
  };
  return {
    begin() {
      longest = 0;
    },
    sofar: () => longest,
  };
}
