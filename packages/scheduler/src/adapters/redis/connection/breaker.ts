/**
 * I7: a server that let a command time out is asked nothing more until it has answered: whoever comes meanwhile is refused at
 * once, and only what lives on that server is. A frozen server keeps its connections, and would cost everybody the whole timeout.
 */
import { Cluster, type Command, type Redis } from 'ioredis';
import type { CommandCounts } from './command-counts.ts';
import type { RedisConnection } from './redis-connection.ts';
import { type Listener, ScriptCommand, TIMED_OUT } from './script-command.ts';

/** Tell nothing of any job, and are how a connection begins and is looked at. */
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
const silentOf = new WeakMap<RedisConnection, ReadonlySet<string>>();

/** Nothing can be asked of it now. */
export function isSilent(connection: RedisConnection): boolean {
  const silent = silentOf.get(connection);
  const servers = connection instanceof Cluster ? connection.nodes('master') : [connection];
  return silent !== undefined && servers.length > 0 && servers.every((server) => silent.has(nameOf(server)));
}

/** `counts`: what else wants to know how each command went; one look at its promise serves both. */
export function breakWhenSilent(connection: RedisConnection, counts?: CommandCounts): void {
  /** By address: a connection that was given up is followed by another to the same server. */
  const silent = new Set<string>();
  silentOf.set(connection, silent);
  if (connection instanceof Cluster) connection.on('+node', (server: Redis) => watch(server, silent, counts));
  else watch(connection, silent, counts);
}

function watch(server: Redis, silent: Set<string>, counts: CommandCounts | undefined): void {
  const name = nameOf(server);
  const send = server.sendCommand.bind(server);
  let probing: NodeJS.Timeout | undefined;

  function answered(): void {
    silent.delete(name);
    clearTimeout(probing);
    probing = undefined;
  }

  function fellSilent(): void {
    silent.add(name);
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
      if (isTimeout(fault)) fellSilent();
      counts?.note(command, fault);
    },
  };

  server.sendCommand = (command: Command, stream) => {
    const wasSent = command instanceof ScriptCommand ? command.listener !== undefined : sent.has(command);
    if (silent.has(name) && !ALWAYS_SENT.has(command.name.toLowerCase())) {
      const refusal = new Error(`${name} does not answer`);
      // A connection that broke sends again what it had sent.
      command.reject(wasSent ? refusal : Object.assign(refusal, { isUnsent: true }));
      if (!wasSent) counts?.note(command, refusal);
      return command.promise;
    }
    if (command instanceof ScriptCommand) {
      command.listener = listener;
      return send(command, stream);
    }
    // One that is sent again, to another server, is still the same command.
    const counted = wasSent ? undefined : counts;
    sent.add(command);
    command.promise.then(
      () => {
        answered();
        counted?.note(command);
      },
      (fault: unknown) => {
        if (isTimeout(fault)) fellSilent();
        counted?.note(command, fault);
      },
    );
    return send(command, stream);
  };
  server.on('end', () => clearTimeout(probing));
  if (silent.has(name)) probe();
}

const isTimeout = (fault: unknown): boolean => fault instanceof Error && fault.message === TIMED_OUT;

const nameOf = ({ options }: Redis): string => `Redis ${options.host}:${options.port}`;
