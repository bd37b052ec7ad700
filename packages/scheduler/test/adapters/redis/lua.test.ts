/** Rules for Lua files: complete headers, declared keys, words as replies, no command that scans all keys. */
import { describe, expect, it } from 'vitest';
import {
  callsOf,
  keyNames,
  type LuaScript,
  listed,
  luaScripts,
  oddReturns,
  passed,
  promisedWords,
  returnedWords,
  takeApart,
  takesAnyNumber,
  usedIndexes,
} from './lua-scripts.ts';

const scripts = luaScripts();

/** Scans all keys, uses another database, or runs undeclared code. */
const FORBIDDEN =
  /^(KEYS|SCAN|RANDOMKEY|EVAL.*|FCALL.*|SCRIPT|SELECT|SWAPDB|FLUSH.*|MIGRATE|MOVE|CONFIG|CLUSTER|WAIT.*|SORT.*|B[LRZ].*)$/;
/** Not in Redis 6.2; scripts that use them have a fallback. */
const LATER =
  /^(SPUBLISH|PUBSUB|EXPIRETIME|PEXPIRETIME|[LZ]MPOP|SINTERCARD|ZINTERCARD|HEXPIRE.*|HPEXPIRE.*|HGETEX|HSETEX)$/;
const WITHOUT_KEY = new Set(['TIME']);
const ALL_KEYS = new Set(['DEL', 'UNLINK', 'EXISTS']);
const TWO_KEYS = new Set(['RENAME', 'RENAMENX', 'COPY', 'SMOVE', 'LMOVE']);
/** Their key comes after the subcommand. */
const SECOND = new Set(['XGROUP', 'XINFO', 'PUBSUB']);
/**
 * A channel may be an argument with that name. It is no key: while a hash slot moves, a server would wait for a key it cannot find. Its
 * name puts it into the hash slot of the script (key-names.test.ts).
 */
const OF_CHANNELS = new Set(['PUBSUB', 'PUBLISH', 'SPUBLISH']);

function keysOf(command: string, args: readonly string[]): readonly string[] {
  if (WITHOUT_KEY.has(command)) return [];
  if (ALL_KEYS.has(command)) return args;
  if (command === 'XREADGROUP') return args.slice(args.indexOf("'STREAMS'") + 1, -1);
  if (SECOND.has(command)) return args.slice(1, 2);
  return args.slice(0, TWO_KEYS.has(command) ? 2 : 1);
}

function undeclared({ header = '', body }: LuaScript): string[] {
  const known = keyNames(body);
  const hasChannel = listed(header, 'ARGV').includes('channel');
  return callsOf(body).flatMap(({ command = '', args }) =>
    keysOf(command, args)
      .filter((key) => !known.has(key) && !(hasChannel && OF_CHANNELS.has(command) && key === 'channel'))
      .map((key) => `${command} ${key}`),
  );
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('Lua', () => {
  it('finds the scripts', () => {
    expect(scripts.length).toBeGreaterThan(10);
  });

  it('I8 one slot per script: detects a key that a script builds', () => {
    const script = (lines: string) => takeApart({ path: 'x.lua', text: `--[[ x ]]\n${lines}` });
    const handedOn =
      "local a, b = KEYS[1], KEYS[2]\nlocal c = a\nfor _, d in ipairs({ b, c }) do\nredis.call('GET', d)\nend";
    expect(undeclared(script(handedOn))).toEqual([]);
    expect(undeclared(script("local a = KEYS[1]\nredis.call('DEL', a, a .. ':x')"))).toEqual([
      "DEL a .. ':x'",
    ]);
    expect(undeclared(script("local a = KEYS[1]\na = a .. ARGV[1]\nredis.call('GET', a)"))).toEqual([
      'GET a',
    ]);
    expect(undeclared(script("redis.call('GET', ARGV[1])"))).toEqual(['GET ARGV[1]']);
    expect(undeclared(script("redis.call('XGROUP', 'CREATE', ARGV[1], 'g')"))).toEqual(['XGROUP ARGV[1]']);
  });

  it('detects a reply that does not begin with a word', () => {
    expect(oddReturns("return { 'ok', 1 }\nreturn { x and 'a' or 'b' }")).toEqual([]);
    expect(
      oddReturns("local page = { 'page' }\nlocal word = 'kept'\nreturn page\nreturn { word, 2 }"),
    ).toEqual([]);
    expect(oddReturns('return 1')).toEqual(['1']);
    expect(oddReturns("return redis.call('GET', key)")).toEqual(["redis.call('GET', key)"]);
    expect(oddReturns('local page = {}\nreturn page\nreturn { used, max }')).toEqual([
      'page',
      '{ used, max }',
    ]);
  });

  it.each(
    scripts
      .filter(({ header = '' }) => header.includes('server time'))
      .map((each) => [each.name, each] as const),
  )('%s tells the time by the server’s clock, never by the caller’s', (_, { header = '', body }) => {
    expect(listed(header, 'ARGV')).not.toContain('now');
    for (const [, value] of body.matchAll(/\bnow = (.*)$/gm))
      expect(value).toBe('time[1] * 1000 + math.floor(time[2] / 1000)');
    for (const [, value] of body.matchAll(/\btime = (.*)$/gm)) expect(value).toBe("redis.call('TIME')");
  });

  describe.each(scripts.map((script) => [script.path.replace(/^.*\/redis\//, ''), script] as const))(
    '%s',
    (_, script) => {
      const { name, header = '', body, wrapper = '' } = script;

      it('has a header with its name and the effect of a repeat', () => {
        expect(script.header).toBeDefined();
        expect(header.startsWith(` ${name}: `)).toBe(true);
        expect(header).toMatch(/^ {2}(Idempotent:|Safe twice:|Running it twice) /m);
      });

      it('lists every key and argument it uses, and no other', () => {
        expect(usedIndexes(body, 'KEYS')).toEqual(numbers(listed(header, 'KEYS').length));
        const args = listed(header, 'ARGV').length;
        const used = usedIndexes(body, 'ARGV');
        if (takesAnyNumber(body)) expect(numbers(args)).toEqual(expect.arrayContaining(used));
        else expect(used).toEqual(numbers(args));
      });

      it('names its keys in the first line, by the names in the header', () => {
        const [first = ''] = body.trimStart().split('\n');
        const [, names = ''] = /^local ([\w, ]+) = KEYS\[1\]/.exec(first) ?? [];
        const keys = listed(header, 'KEYS');
        expect(names.split(', ').slice(0, keys.length)).toEqual(keys);
        expect(usedIndexes(first, 'KEYS')).toEqual(numbers(keys.length));
      });

      it('replies with the words of the header', () => {
        const words = promisedWords(header);
        expect(words.length).toBeGreaterThan(0);
        expect(words).toEqual(expect.arrayContaining(returnedWords(body)));
        for (const word of words) expect(body).toContain(`'${word}'`);
        expect(oddReturns(body)).toEqual([]);
      });

      it('I8 one slot per script: touches declared keys only', () => {
        expect(undeclared(script)).toEqual([]);
      });

      it('calls only commands of Redis 6.2 on its keys', () => {
        const calls = callsOf(body);
        expect(calls.map(({ command }) => command)).not.toContain(undefined);
        expect(calls.filter(({ command = '' }) => FORBIDDEN.test(command))).toEqual([]);
        expect(calls.filter((call) => LATER.test(call.command ?? '') && !call.isProtected)).toEqual([]);
      });

      it('has a wrapper that passes as many keys and arguments', () => {
        expect(wrapper).toContain(`'${name}')`);
        const { keys, args } = passed(wrapper);
        expect(keys ?? listed(header, 'KEYS').length).toBe(listed(header, 'KEYS').length);
        if (!takesAnyNumber(body))
          expect(args ?? listed(header, 'ARGV').length).toBe(listed(header, 'ARGV').length);
      });
    },
  );
});
