/** What instances share has an adapter for Redis, and each of these keeps its port's law on one server and on a Cluster. */
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder, importsOf, resolveImport, type SourceFile } from './source-files.ts';

const ADAPTERS = 'packages/scheduler/src/adapters/redis';
const TESTS = 'packages/scheduler/test';

/** Ports that nothing in Redis stands behind, and why. */
const NOT_IN_REDIS: Readonly<Record<string, string>> = {
  'audio-fetcher': 'audio is fetched from the instance that holds it',
  'audio-store': 'audio never lies in Redis: a job carries a reference',
  'audit-log': 'of the process: each writes its own file',
  chance: 'of the process',
  clock: 'of the process; leases go by the time of the server, inside its scripts',
  'endpoint-caller': 'calls nodes over HTTP',
  'id-source': 'of the process',
  log: 'of the process',
  meter: 'of the process: each is scraped by itself',
  'node-link': 'the way to a node: its socket, its mailbox, its endpoint or the inbox of its holder',
  'room-followers': 'part of the adapter of room-log, whose scripts return the followers',
  'service-hub': 'asks the hub over HTTP',
  'slow-watch': 'of the process',
  tracer: 'of the process',
};

const nameOf = ({ path }: SourceFile): string => basename(path, '.ts');
const ports = filesUnder('packages/scheduler/src/ports', '.ts').map(nameOf);
const adapters = new Set(
  filesUnder(ADAPTERS, '.ts')
    .filter(({ path }) => path === `${ADAPTERS}/${basename(path)}`)
    .map(nameOf),
);
const tests = filesUnder(TESTS, '.ts');
const shared = ports.filter((port) => adapters.has(port));

const contractOf = (port: string): string =>
  `${port.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Contract`;

const SERVERS = { 'one Redis': /\bstartRedis\b/, 'a Cluster': /\bstartCluster\b/ };

/** Against which servers a text runs a contract: those of the tables its calls stand under. */
function serversOf(text: string, contract: string): string[] {
  const tables = [...text.matchAll(/^describe\.each\(\[\n(.*?)^\].*?\(.*?\n(.*?)^\}\);/gms)];
  const rows = tables.flatMap(([, table = '', body = '']) =>
    new RegExp(`^ {2}${contract}\\(`, 'm').test(body) ? [table] : [],
  );
  return Object.entries(SERVERS).flatMap(([where, start]) =>
    rows.some((table) => start.test(table)) ? [where] : [],
  );
}

/** Whether it uses the adapter, by itself or by something that helps with tests. */
function reaches(file: SourceFile, adapter: string, hops = 1): boolean {
  const imported = importsOf(file.text).map((module) => resolveImport(file, module));
  if (imported.includes(adapter)) return true;
  return hops > 0 && tests.some((each) => imported.includes(each.path) && reaches(each, adapter, hops - 1));
}

describe('adapters for Redis', () => {
  it('are looked for rightly in tests', () => {
    const under = (rows: string, body: string): string =>
      `describe.each([\n${rows}\n])('on %s', (name, start) => {\n${body}\n});\n`;
    const both = "  ['one', () => startRedis()],\n  ['many', startCluster],";
    const calls = '  nodeRecordsContract(name, async () => ({\n    board,\n  }));';
    const serversIn = (text: string): string[] => serversOf(text, contractOf('node-records'));
    expect(serversIn(under(both, calls))).toEqual(['one Redis', 'a Cluster']);
    expect(serversIn(under("  ['one', startRedis],", calls))).toEqual(['one Redis']);
    expect(serversIn(under("  ['old', startRedisWithoutShardedChannels],", calls))).toEqual([]);
    expect(serversIn(under(both, '  locksContract(name, open);'))).toEqual([]);
    expect(serversIn(`nodeRecordsContract('memory', open);\n${under(both, '')}`)).toEqual([]);
    expect(serversIn(under(both, '') + under("  ['one', startRedis],", calls))).toEqual(['one Redis']);
  });

  it('stand behind every port of the same name, unless there is a reason', () => {
    const without = ports.filter((port) => !adapters.has(port)).sort();
    expect(without).toEqual(Object.keys(NOT_IN_REDIS).sort());
  });

  it.each(shared)('%s keeps its law on one Redis and on a Cluster', (port) => {
    const users = tests.filter(
      (file) => file.path.endsWith('.test.ts') && reaches(file, `${ADAPTERS}/${port}.ts`),
    );
    const servers = new Set(users.flatMap(({ text }) => serversOf(text, contractOf(port))));
    expect([...servers]).toEqual(Object.keys(SERVERS));
  });
});
