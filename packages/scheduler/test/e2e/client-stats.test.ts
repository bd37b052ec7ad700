/** What a client measured is counted when it closes its session, if its application agreed. */
import { openSession } from '@lingua/sdk/client';
import { expect, it } from 'vitest';
import WebSocket from 'ws';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { startApp } from './support/start-app.ts';

it.each([true, false])('the stats of a session are reported: %s', async (reportStats) => {
  const app = await startApp();
  await joinSdkNode({ url: app.nodeUrl, onJob: () => OUTPUT });
  await app.readyNodes(1);
  const session = openSession({
    url: app.url,
    WebSocket: WebSocket as never,
    srcLang: 'en',
    tgtLang: 'zh',
    reportStats,
  });
  session.sendUtterance(new Uint8Array(640));
  await session.settled();
  expect(session.getStats()).toMatchObject({ utterances: 1, results: 1, missing: 0, resumes: 0 });
  expect(session.getStats().latency.total?.count).toBe(1);
  await session.close();
  const metrics = (await app.get<string>('/metrics')).body;
  const counted = /^scheduler_client_outcomes_total\{outcome="result"\} (\d+)$/m.exec(metrics)?.[1];
  expect(counted).toBe(reportStats ? '1' : undefined);
  expect(metrics.includes('scheduler_client_latency_seconds_count{quantile="p50"} 1')).toBe(reportStats);
});
