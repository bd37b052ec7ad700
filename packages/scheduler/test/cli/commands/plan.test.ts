/** `lingua plan` reports wrong options before it computes, and prints consistent numbers. */
import { describe, expect, it } from 'vitest';
import { runPlan } from '../../../src/cli/commands/plan.ts';
import { readPlan } from '../../../src/cli/commands/plan-options.ts';
import { createTerminal } from '../terminal.ts';

const LOAD = ['--arrivals', '500/s', '--service-time', '20ms', '--slots', '4'];
const SHORT = [...LOAD, '--spread', 'fixed', '--seconds', '2', '--wait-p99', '10ms', '--max-wait', '1s'];

async function plan(...argv: string[]) {
  const terminal = createTerminal();
  const status = await runPlan(argv, terminal);
  return { status, out: terminal.lines.join('\n'), err: terminal.errors.join('\n') };
}

/** The load with another value of one option: an option may be given once. */
const loadWith = (flag: string, value: string): string[] => {
  const at = LOAD.indexOf(flag);
  return at === -1 ? [...LOAD, flag, value] : LOAD.with(at + 1, value);
};

const problemsOf = (...argv: string[]): string => {
  const read = readPlan(argv);
  return read.kind === 'invalid' ? read.problems.join('\n') : read.kind;
};

describe('the options of lingua plan', () => {
  it('accept human units', () => {
    const read = readPlan([
      ...['--arrivals', '1200/m', '--service-time', '1.5s', '--slots', '2', '--spread', 'lognormal:0.6'],
      ...['--wait-p99', '0.3s', '--refused', '0.5%', '--max-wait', '500ms', '--instance-rate', '900/s'],
    ]);
    expect(read).toEqual({
      kind: 'plan',
      plan: {
        workload: {
          arrivalsPerSecond: 20,
          serviceMs: 1_500,
          slots: 2,
          spread: { kind: 'lognormal', sigma: 0.6 },
          maxWaitMs: 500,
        },
        target: { waitP99Ms: 300, refused: 0.005 },
        spareNodes: 1,
        instanceRate: 900,
        spareInstances: 1,
        seconds: undefined,
        seed: '1',
        isJson: false,
      },
    });
  });

  it('are all reported that are missing', () => {
    const problems = problemsOf();
    for (const flag of ['--arrivals', '--service-time', '--slots'])
      expect(problems).toMatch(new RegExp(`^${flag} is missing: it must be .*\\d`, 'm'));
  });

  it.each([
    ['--arrivals', '50', /^--arrivals must be a rate .* 50\/s.*, not "50"$/m],
    ['--arrivals', '0/s', /^--arrivals must be a rate from 0.01\/s/m],
    ['--service-time', '800', /^--service-time must be a time .* 800ms .*, not "800"$/m],
    ['--slots', '0', /^--slots must be a whole number from 1 to 1000, not "0"$/m],
    ['--slots', '2.5', /^--slots must be a whole number/m],
    ['--spread', 'normal', /^--spread must be exp, fixed, or lognormal:SIGMA/m],
    ['--spread', 'lognormal:9', /^--spread must be/m],
    ['--wait-p99', 'soon', /^--wait-p99 must be a time/m],
    ['--refused', '0.1', /^--refused must be a percentage .* 0.1%, not "0.1"$/m],
    ['--refused', '60%', /^--refused must be a percentage from 0% to 50%/m],
    ['--max-wait', '1h', /^--max-wait must be a time from 0ms to 10m/m],
    ['--spare-nodes', '-1', /'--spare-nodes/],
    ['--instance-rate', 'x', /^--instance-rate must be a rate/m],
    ['--seconds', '1', /^--seconds 1 is too short for a p99: 1000 jobs, .* take 2 s$/m],
    ['--seconds', '1000000', /^--seconds 1000000 is too long: .* take 20000 s$/m],
    ['--service-time', '1m', /keep 30000 slots busy, and more than 10000 are not simulated: plan a part/],
    ['--servce-time', '1s', /--servce-time/],
  ])('%s %s is refused with the allowed values', (flag, value, problem) => {
    expect(problemsOf(...loadWith(flag, value))).toMatch(problem);
  });
});

describe('lingua plan', () => {
  /** Computed once, by the first test that needs it. */
  let asked: ReturnType<typeof plan> | undefined;
  const answer = () => {
    asked ??= plan(...SHORT);
    return asked;
  };

  it('returns 2 and computes nothing with wrong options', async () => {
    const { status, out, err } = await plan(...loadWith('--slots', 'x'));
    expect([status, out]).toEqual([2, '']);
    expect(err).toMatch(/^lingua plan: --slots must be/);
  });

  it('prints its help', async () => {
    expect((await plan('--help')).out).toMatch(/^Usage: lingua plan/);
  });

  it('prints numbers, neighbouring sizes, the formula and the assumptions', async () => {
    const { status, out, err } = await answer();
    expect(status).toBe(0);
    const [first = ''] = out.split('\n');
    const [, nodes] = /^(\d+) nodes and 2 instances$/.exec(first) ?? [];
    const needed = Number(nodes) - 1;
    expect(out).toMatch(new RegExp(`^  nodes      ${needed} for the load .*, 1 spare$`, 'm'));
    expect(out).toMatch(new RegExp(`^ *${needed} .*<- smallest that is enough$`, 'm'));
    expect(out).toMatch(new RegExp(`^ *${needed - 1} .*(too few|not settled)$`, 'm'));
    expect(out).toMatch(/^Erlang-C .*\n- exponential service times; yours are all the same$/m);
    expect(out).toMatch(/^Assumptions:$/m);
    expect(err).toMatch(/^lingua plan: \d+ nodes: .* busy, p99 wait .* refused$/m);
  });

  it('prints the same JSON for the same seed', async () => {
    const { out, err } = await plan(...SHORT, '--json', '--spare-nodes', '3', '--instance-rate', '200/s');
    const received = JSON.parse(out);
    expect(received.nodes).toBe(received.nodes_for_load + 3);
    expect([received.instances_for_load, received.instances]).toEqual([3, 4]);
    const enough = received.sizes.filter((size: { verdict: string }) => size.verdict === 'enough');
    expect(enough[0].nodes).toBe(received.nodes_for_load);
    expect(enough[0].wait_ms.p99).toBeLessThanOrEqual(10);
    expect(err).toBe((await answer()).err);
  });

  it('shows the refused share if jobs may not wait', async () => {
    const { out } = await plan(...LOAD, '--seconds', '2', '--max-wait', '0s', '--refused', '2%');
    expect(out).toMatch(/Erlang-B refused %/);
    expect(out).toMatch(/only --refused decides/);
  });

  it('prints no plan if it is interrupted', async () => {
    const terminal = createTerminal();
    terminal.interrupt();
    expect(await runPlan(LOAD, terminal)).toBe(1);
    expect(terminal.lines).toEqual([]);
    expect(terminal.errors.at(-1)).toMatch(/interrupted/);
  });
});
