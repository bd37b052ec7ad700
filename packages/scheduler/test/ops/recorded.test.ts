/** Alarms on what a real scheduler prints: a healthy one rings nothing, and one in trouble rings what it should. */
import { JobError } from '@lingua/sdk/node';
import { expect, it } from 'vitest';
import { joinSdkNode, OUTPUT } from '../e2e/support/sdk-node.ts';
import { openSession, sessionUrl, utterance } from '../e2e/support/session-client.ts';
import { QUICK } from '../e2e/support/session-settings.ts';
import { type RunningApp, startApp } from '../e2e/support/start-app.ts';
import { ALERTS, type Alert, readAlerts, seriesIn } from './ops-files.ts';
import { promtool, withFiles } from './promtool.ts';

const alerts = readAlerts();
/** These tell of the machine that runs the tests, which may be busy. */
const OF_THE_MACHINE = ['LinguaEventLoopDelayed', 'LinguaSlowPaths', 'LinguaSlowLocks', 'LinguaDispatchSlow'];
/** With what it says, so that a failure shows which alarm it is about. */
const FINE = { isFine: true, said: expect.stringContaining('SUCCESS') };
const STEPS = 30;
const JOBS = 20;

type Samples = ReadonlyMap<string, number>;

async function scrape(app: RunningApp): Promise<Samples> {
  const { body } = await app.get<string>('/metrics');
  const lines = [...body.matchAll(/^(scheduler_\w+)(?:\{(.*)\})? (\S+)$/gm)];
  return new Map(
    lines.map(([, name, labels, value]) => [
      `${name}{${[labels, 'instance="a"'].filter(Boolean).join(',')}}`,
      Number(value),
    ]),
  );
}

const isCounted = (series: string): boolean => /^\w+_(?:total|bucket|sum|count)\{/.test(series);

const asked = new Set(alerts.flatMap(({ expr }) => seriesIn(expr).map(({ metric }) => metric)));

/** What happened once between two scrapes happens all the time. Only of what some alarm asks for, so that it is judged sooner. */
const recorded = (before: Samples, after: Samples) =>
  [...after]
    .filter(([series]) => asked.has(series.replace(/\{.*/, '')))
    .map(([series, value]) => {
      const first = before.get(series) ?? 0;
      return {
        series,
        values: isCounted(series) ? `${first}+${value - first}x${STEPS}` : `${value}x${STEPS}`,
      };
    });

async function during(app: RunningApp, act: () => Promise<unknown>) {
  const before = await scrape(app);
  await act();
  return recorded(before, await scrape(app));
}

const RUNBOOK = 'https://lingua.example.com/runbook';
const published = (url: string): string => url.replace('{{ $externalLabels.lingua_runbook }}', RUNBOOK);

/** What Prometheus says to these series, if of the judged alarms exactly these ring. */
function judge(input_series: readonly unknown[], ringing: readonly string[], judged: readonly Alert[]) {
  const tests = [
    {
      interval: '1m',
      external_labels: { lingua_runbook: RUNBOOK },
      input_series,
      alert_rule_test: judged.map(({ name, severity, summary, runbookUrl }) => ({
        eval_time: '30m',
        alertname: name,
        exp_alerts: ringing.includes(name)
          ? [{ exp_labels: { severity }, exp_annotations: { summary, runbook_url: published(runbookUrl) } }]
          : [],
      })),
    },
  ];
  const file = JSON.stringify({ rule_files: [ALERTS], evaluation_interval: '1m', tests });
  return withFiles({ 'recorded.yml': file }, (path) => promtool('test', 'rules', path('recorded.yml')));
}

const named = (...names: readonly string[]) => alerts.filter(({ name }) => names.includes(name));

it('a scheduler that works well rings nothing', async () => {
  const app = await startApp(QUICK);
  await joinSdkNode({ url: app.nodeUrl, onJob: async () => OUTPUT });
  await app.readyNodes(1);
  const session = await openSession({ url: sessionUrl(app) });
  const series = await during(app, async () => {
    for (let at = 0; at < JOBS; at += 1) {
      await app.settled((await app.dispatch()).job_id);
      session.send(utterance(session, at));
      await session.outcome(at + 1);
    }
  });
  const judged = alerts.filter(({ name }) => !OF_THE_MACHINE.includes(name));
  expect(judge(series, [], judged)).toMatchObject(FINE);
});

it('a scheduler without nodes rings for them', async () => {
  const app = await startApp();
  const series = await during(app, async () => {
    for (let at = 0; at < JOBS; at += 1) expect((await app.tryDispatch()).status).toBe(503);
  });
  const ringing = ['LinguaNoReadyNode', 'LinguaNoAvailableNode'];
  expect(judge(series, ringing, named(...ringing, 'LinguaJobsFail'))).toMatchObject(FINE);
});

it('a scheduler whose nodes fail rings for the jobs', async () => {
  const app = await startApp();
  const fail = async () => {
    throw new JobError('PROCESSING_ERROR', 'broken');
  };
  await joinSdkNode({ url: app.nodeUrl, onJob: fail });
  await app.readyNodes(1);
  const series = await during(app, async () => {
    for (let at = 0; at < 3; at += 1) await app.settled((await app.dispatch()).job_id);
  });
  const ringing = ['LinguaJobsFail'];
  expect(judge(series, ringing, named(...ringing, 'LinguaNoReadyNode'))).toMatchObject(FINE);
});
