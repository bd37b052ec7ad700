/** One session, and one node whose jobs the test ends. */
import type { JobAssign } from '@lingua/sdk/node';
import { eventually } from '../../support/eventually.ts';
import { joinSdkNode } from './sdk-node.ts';
import { openSession, sessionUrl } from './session-client.ts';
import { holdEachJob } from './session-jobs.ts';
import { figure } from './session-metrics.ts';
import { QUICK } from './session-settings.ts';
import { type Settings, startApp } from './start-app.ts';

export async function startHeld(settings: Settings = {}) {
  const app = await startApp({ ...QUICK, ...settings });
  const each = holdEachJob();
  await joinSdkNode({ url: app.nodeUrl, nodeId: 'node-a', onJob: each.onJob });
  await app.readyNodes(1);
  const url = sessionUrl(app);
  const gone = () =>
    eventually(async () => (await figure(app, 'scheduler_sessions{state="connected"}')) === 0);
  return { app, each, url, gone, session: await openSession({ url }) };
}

/** The distinct bytes of a job's audio. */
export const audioOf = ({ audio }: JobAssign): number[] => [...new Set(Buffer.from(audio, 'base64'))];
