/** The conformance suite: its scenarios hold for the SDKs of this repository, and each can fail. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startCommand } from '../../src/conformance/node-program.ts';
import { playScenario } from '../../src/conformance/play-scenario.ts';
import { runConformance } from '../../src/conformance/run-conformance.ts';
import { readScenarios } from '../../src/conformance/scenario.ts';
import { commandOf, SCENARIOS } from '../../src/conformance/sdks.ts';
import { BREAKAGES } from './breakages.ts';
import { inProcess } from './in-process.ts';

const scenarios = readScenarios(fileURLToPath(SCENARIOS));
/** Only a hang reaches it. */
const PATIENCE_MS = 60_000;

describe('the TypeScript SDK', () => {
  it.each(scenarios)('$name', async (scenario) => {
    const verdict = await playScenario(scenario, { start: inProcess(), patienceMs: PATIENCE_MS });
    expect(verdict).toEqual({ kind: 'passed' });
  });
});

describe('the Python SDK', () => {
  it('passes every scenario, as a process', async () => {
    const start = startCommand(commandOf('python'));
    const played = await runConformance(scenarios, { start, patienceMs: PATIENCE_MS, atOnce: 4 });
    expect(played.filter(({ verdict }) => verdict.kind !== 'passed')).toEqual([]);
    expect(played).toHaveLength(scenarios.length);
  });
});

describe('a broken node fails', () => {
  it('every scenario has a node that fails it', () => {
    const broken = BREAKAGES.map(({ scenario }) => scenario);
    expect([...new Set(broken)].sort()).toEqual(scenarios.map(({ name }) => name).sort());
  });

  it.each(BREAKAGES)('$scenario: one that $how', async ({ scenario, make, says }) => {
    const played = scenarios.filter(({ name }) => name === scenario);
    expect(played).toHaveLength(1);
    const { tampering = {}, program } = make();
    const options = { start: inProcess(program), patienceMs: PATIENCE_MS, tampering };
    for (const each of played)
      expect(await playScenario(each, options)).toMatchObject({
        kind: 'failed',
        why: expect.stringMatching(says),
      });
  });
});
