/** The player: what it reads, compares and reports. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { readCommand } from '../../src/conformance/command.ts';
import { findMismatch } from '../../src/conformance/match.ts';
import { type StartProgram, startCommand } from '../../src/conformance/node-program.ts';
import { playScenario } from '../../src/conformance/play-scenario.ts';
import { parseScenarios, readScenarios, type Scenario } from '../../src/conformance/scenario.ts';
import { SCENARIOS } from '../../src/conformance/sdks.ts';
import { inProcess } from './in-process.ts';

const PATIENCE_MS = 60_000;
const scenarioOf = (...lines: readonly object[]): Scenario => {
  const text = [{ scenario: 'one', shows: 'something' }, ...lines]
    .map((line) => JSON.stringify(line))
    .join('\n');
  const [scenario] = parseScenarios(text, 'own.jsonl');
  if (scenario === undefined) throw new Error('no scenario');
  return scenario;
};

describe('scenario files', () => {
  it.each([
    ['{', 'own.jsonl:1'],
    ['{"expect":{}}', 'the first line must name a scenario'],
    ['{"scenario":"a"}\n{"hope":{}}', 'own.jsonl:2: a step has one field'],
    ['{"scenario":"a"}\n{"open":"a","cut":true}', 'own.jsonl:2: a step has one field'],
  ])('%s is refused with its line', (text, message) => {
    expect(() => parseScenarios(text, 'own.jsonl')).toThrow(message);
  });

  it('have names of their own, and say what a node does', () => {
    const scenarios = readScenarios(fileURLToPath(SCENARIOS));
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
    expect(scenarios.filter(({ shows }) => !/^[A-Z].+\.$/.test(shows))).toEqual([]);
  });
});

describe('a pattern', () => {
  it.each([
    [{ a: 1 }, { a: 1, b: 2 }, undefined],
    [{ a: 1 }, { a: 2 }, 'a must be 1, and is 2'],
    [{ a: { b: 1 } }, { a: 7 }, 'a must be an object, and is 7'],
    [{ a: { $absent: true } }, { a: null }, 'a must be absent, and is null'],
    [{ a: { $absent: true } }, {}, undefined],
    [{ a: { $kind: 'number' } }, { a: '1' }, 'a must be a number, and is "1"'],
    [{ a: { $like: '^x' } }, { a: 'yx' }, 'a must match "^x", and is "yx"'],
    [{ a: { $has: [1, 2] } }, { a: [2, 3] }, 'a lacks 1: [2,3]'],
    [{ a: [1, { b: 2 }] }, { a: [1, { b: 2, c: 3 }] }, undefined],
    [{ a: [1] }, { a: [1, 2] }, 'a must be [1], and is [1,2]'],
  ])('%j compared with %j', (pattern, value, mismatch) => {
    expect(findMismatch(pattern, value)).toBe(mismatch);
  });
});

describe('the player', () => {
  it('reports frames that no scheduler accepts', async () => {
    const start: StartProgram = (config) => {
      const socket = new WebSocket(config.url);
      socket.on('open', () => socket.send('{"type":"node_register"}'));
      return {
        tell() {},
        events: [],
        lastWords: () => '',
        hasEnded: () => false,
        end: async () => socket.terminate(),
      };
    };
    const scenario = scenarioOf({ start: {} }, { admit: {} });
    expect(await playScenario(scenario, { start, patienceMs: PATIENCE_MS })).toMatchObject({
      kind: 'failed',
      at: 'own.jsonl:3',
      why: expect.stringContaining('what no scheduler accepts: node_register: '),
    });
  });

  it('passes over scenarios about extensions that the SDK does not announce', async () => {
    const scenario = { ...scenarioOf({ start: {} }, { admit: {} }), needs: ['telepathy'] };
    const verdict = await playScenario(scenario, { start: inProcess(), patienceMs: PATIENCE_MS });
    expect(verdict).toEqual({ kind: 'not_announced', needs: ['telepathy'] });
  });

  it('shows what a program that ended wrote to standard error', async () => {
    const start = startCommand('echo "no such module" >&2');
    const scenario = scenarioOf({ start: {} }, { exit: true }, { event: { event: 'registered' } });
    expect(await playScenario(scenario, { start, patienceMs: PATIENCE_MS })).toMatchObject({
      kind: 'failed',
      at: 'own.jsonl:4',
      why: expect.stringContaining('did not print'),
      lastWords: 'no such module\n',
    });
  });

  it('ends a program that does not end by itself', async () => {
    const start = startCommand('sleep 1000 & sleep 1000');
    const verdict = await playScenario(scenarioOf({ start: {} }), { start, patienceMs: 100 });
    expect(verdict).toEqual({ kind: 'passed' });
  });
});

describe('the command', () => {
  it.each([
    [[], '--sdk is missing'],
    [['--sdk', 'x', '--patience', 'long'], '--patience'],
    [['--sdk', 'x', '--at-once', '0'], '--at-once'],
    [['--sdq', 'x'], '--sdq'],
  ])('%j has its own message', (argv, message) => {
    expect(readCommand(argv)).toContain(message);
  });
});
