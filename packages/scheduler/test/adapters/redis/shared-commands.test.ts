/**
 * The adapters use only what Redis 6.2, 7 and Valkey 7.2 have in common: commands of Redis 6.2, with its options. Sharded channels,
 * which came later, have a fallback.
 */
import { describe, expect, it } from 'vitest';
import { filesUnder } from '../../architecture/source-files.ts';
import { callsOf, luaScripts } from './lua-scripts.ts';

/** What scripts may call. Before you add a command, check that Redis 6.2 has it. */
const IN_SCRIPTS = new Set([
  ...['DEL', 'UNLINK', 'EXISTS', 'PERSIST', 'PEXPIRE', 'PTTL', 'RENAME', 'TIME', 'PUBLISH'],
  ...['GET', 'GETRANGE', 'SET'],
  ...['HDEL', 'HEXISTS', 'HGET', 'HGETALL', 'HINCRBY', 'HKEYS', 'HLEN', 'HMGET', 'HSET', 'HSETNX'],
  ...['SADD', 'SCARD', 'SMEMBERS', 'SREM'],
  ...[
    'ZADD',
    'ZCARD',
    'ZCOUNT',
    'ZLEXCOUNT',
    'ZPOPMIN',
    'ZRANGE',
    'ZRANGEBYLEX',
    'ZRANGEBYSCORE',
    'ZRANK',
    'ZREM',
  ],
  ...['ZREMRANGEBYRANK', 'ZREMRANGEBYSCORE', 'ZSCORE'],
  ...['XACK', 'XADD', 'XDEL', 'XGROUP', 'XLEN', 'XRANGE', 'XREVRANGE'],
]);
/** With a fallback for servers without it. */
const LATER_IN_SCRIPTS = new Set([...['put-entry SPUBLISH']]);

/** Methods of the client that are commands. */
const BY_WRAPPERS = new Set([
  ...['config', 'eval', 'evalsha', 'info', 'ping', 'publish', 'subscribe', 'unsubscribe', 'wait'],
  ...['get', 'set', 'del', 'pexpire', 'pttl', 'unlink', 'sadd', 'smembers', 'srem'],
  ...['hdel', 'hget', 'hgetall', 'hkeys', 'hmget'],
  ...['xlen', 'xpending', 'xrange', 'xreadgroup'],
  ...['zadd', 'zcard', 'zrange', 'zrangebyscore', 'zrem', 'zremrangebyscore'],
  ...['zrevrange', 'zrevrangebyscore'],
]);
const LATER_BY_WRAPPERS = new Set(['spublish', 'ssubscribe', 'sunsubscribe']);
/** Callers fall back to plain channels. */
const SHARDED = /\/(channels|node-mailbox\/arrivals)\.ts$/;
/** Methods of the client that send no command. */
const OF_THE_CLIENT = new Set([
  ...['call', 'disconnect', 'nodes', 'off', 'on', 'once', 'pipeline'],
  ...['close', 'exec', 'refreshSlotsCache', 'sendCommand'],
]);
/** By their names. */
const CALLED = new Set(['XCLAIM']);

/** Options that came with version 7, by the command they belong to. */
const LATER_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  PEXPIRE: ['NX', 'XX', 'GT', 'LT'],
  XGROUP: ['ENTRIESREAD'],
};

const optionsOf = (args: readonly string[]): string[] =>
  args.flatMap((arg) => /^['"](\w+)['"]$/.exec(arg)?.[1]?.toUpperCase() ?? []);

function laterOptions(command: string, args: readonly string[]): string[] {
  const options = optionsOf(args);
  const later = options.filter((option) => LATER_OPTIONS[command]?.includes(option));
  // Each option is older, the combination is newer.
  if (command === 'SET' && options.includes('GET') && options.includes('NX')) later.push('NX GET');
  if (command === 'XADD' && args.some((arg) => /-\*['"]$/.test(arg))) later.push('MS-*');
  return later.map((option) => `${command} ${option}`);
}

const wrappers = filesUnder('packages/scheduler/src/adapters/redis', '.ts');
const callsIn = (text: string, calls: RegExp): string[] =>
  [...text.matchAll(calls)].map(([, name = '']) => name);

describe('what Redis 6.2, 7 and Valkey share', () => {
  it('is distinguished from newer commands', () => {
    expect(laterOptions('PEXPIRE', ['key', 'ttl', "'NX'"])).toEqual(['PEXPIRE NX']);
    expect(laterOptions('SET', ['key', 'text', "'NX'", "'GET'"])).toEqual(['SET NX GET']);
    expect(laterOptions('XADD', ['key', "'5-*'", "'body'", 'body'])).toEqual(['XADD MS-*']);
    expect(laterOptions('XADD', ['key', "'NOMKSTREAM'", "'*'", "'body'", 'body'])).toEqual([]);
  });

  it('is all that scripts call, with all options', () => {
    const beyond = luaScripts().flatMap(({ name, body }) =>
      callsOf(body).flatMap(({ command = '', args, isProtected }) => {
        const isKnown =
          IN_SCRIPTS.has(command) || (isProtected && LATER_IN_SCRIPTS.has(`${name} ${command}`));
        return [...(isKnown ? [] : [`${name} ${command}`]), ...laterOptions(command, args)];
      }),
    );
    expect(beyond).toEqual([]);
  });

  it('is the Lua version of the scripts', () => {
    const later = luaScripts().filter(({ body }) =>
      /^#!|redis\.(REDIS_VERSION|acl_check_cmd|setresp|set_repl|register_function)|server\./m.test(body),
    );
    expect(later.map(({ name }) => name)).toEqual([]);
  });

  it('is all that the client uses, except for sharded channels', () => {
    const beyond = wrappers.flatMap(({ path, text }) => {
      const commands = callsIn(
        text,
        /\b(?:connection|server|master|subscriber|pipeline|client|redis|cluster|on)\s*\.(\w+)\(/g,
      );
      const mayBeLater = SHARDED.test(path);
      return commands
        .filter((name) => !BY_WRAPPERS.has(name) && !OF_THE_CLIENT.has(name))
        .filter((name) => !(mayBeLater && LATER_BY_WRAPPERS.has(name)))
        .map((name) => `${path} ${name}`);
    });
    expect(beyond).toEqual([]);
    const called = wrappers.flatMap(({ text }) => callsIn(text, /\.call\(\s*'(\w+)'/g));
    expect(called.filter((name) => !CALLED.has(name))).toEqual([]);
  });
});
