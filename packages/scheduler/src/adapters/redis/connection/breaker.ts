/**
 * I7: after a command timed out, a server gets no further commands until it has answered a probe: commands to this server, and only
 * those, are rejected at once. A frozen server keeps its connections open, so every caller would wait for the whole timeout.
 */
import { Cluster, type Command, type Redis } from 'ioredis';
import type { CommandCounts } from './command-counts.ts';
import type { RedisConnection } from './redis-connection.ts';
import { type Listener, ScriptCommand, TIMED_OUT } from './script-command.ts';

/** Commands that open or check a connection; they concern no job. */
const ALWAYS_SENT = new Set([
  'ping',
  'info',
  'auth',
  'hello',
  'select',
  'client',
  'readonly',
  'cluster',
  'quit',
]);
const PROBE_MS = 100;

/** Commands that may have reached a server. */
const sent = new WeakSet<Command>();
const unresponsiveOf = new WeakMap<RedisConnection, ReadonlySet<string>>();

/** No server of the connection answers now. */
export function isUnresponsive(connection: RedisConnection): boolean {
  const unresponsive = unresponsiveOf.get(connection);
  const servers = connection instanceof Cluster ? connection.nodes('master') : [connection];
  return (
    unresponsive !== undefined &&
    servers.length > 0 &&
    servers.every((server) => unresponsive.has(nameOf(server)))
  );
}

/** `counts`: counts the commands by result, so that one handler per promise serves both. */
export function breakWhenUnresponsive(connection: RedisConnection, counts?: CommandCounts): void {
  /** By address: a closed connection may be followed by another one to the same server. */
  const unresponsive = new Set<string>();
  unresponsiveOf.set(connection, unresponsive);
  if (connection instanceof Cluster)
    connection.on('+node', (server: Redis) => watch(server, unresponsive, counts));
  else watch(connection, unresponsive, counts);
}

function watch(server: Redis, unresponsive: Set<string>, counts: CommandCounts | undefined): void {
  const name = nameOf(server);
  const send = server.sendCommand.bind(server);
  let probing: NodeJS.Timeout | undefined;

  function answered(): void {
    unresponsive.delete(name);
    clearTimeout(probing);
    probing = undefined;
  }

  function timedOut(): void {
    unresponsive.add(name);
    if (probing === undefined) probe();
  }

  function probe(): void {
    probing = setTimeout(() => {
      if (server.status !== 'end') server.ping().then(answered, probe);
    }, PROBE_MS);
    probing.unref();
  }

  const listener: Listener = {
    answered(command) {
      answered();
      counts?.note(command);
    },
    failed(command, fault) {
      if (isTimeout(fault)) timedOut();
      counts?.note(command, fault);
    },
  };

  server.sendCommand = (command: Command, stream) => {
    const wasSent = command instanceof ScriptCommand ? command.listener !== undefined : sent.has(command);
    if (unresponsive.has(name) && !ALWAYS_SENT.has(command.name.toLowerCase())) {
      const refusal = new Error(`${name} does not answer`);
      // A lost connection sends its pending commands again.
      command.reject(wasSent ? refusal : Object.assign(refusal, { isUnsent: true }));
      if (!wasSent) counts?.note(command, refusal);
      return command.promise;
    }
    if (command instanceof ScriptCommand) {
      command.listener = listener;
      return send(command, stream);
    }
    // A command that is sent again, to another server, is counted once.
    const counted = wasSent ? undefined : counts;
    sent.add(command);
    command.promise.then(
      () => {
        answered();
        counted?.note(command);
      },
      (fault: unknown) => {
        if (isTimeout(fault)) timedOut();
        counted?.note(command, fault);
      },
    );
    return send(command, stream);
  };
  server.on('end', () => clearTimeout(probing));
  if (unresponsive.has(name)) probe();
}

const isTimeout = (fault: unknown): boolean => fault instanceof Error && fault.message === TIMED_OUT;

const nameOf = ({ options }: Redis): string => `Redis ${options.host}:${options.port}`;
