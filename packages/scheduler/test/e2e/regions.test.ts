/** Regions over real connections: the configuration, what nodes say, what their token says, and what clients ask for. */
import type { ExplainReply } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { simulatedCapabilities } from '../../src/cli/simulated-node/simulated-capabilities.ts';
import { eventually } from '../support/eventually.ts';
import { holdJobs, joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { AUDIO, type RunningApp, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const OUTSIDE = 'token-of-nodes-in-the-us';
const TOML = `
[scheduler.regions]
own = "us"
[[scheduler.regions.round_trips]]
one = "us"
other = "eu"
ms = 90
[[scheduler.tenants]]
tenant_id = "acme"
residency = ["eu"]
${TOKEN_TOML}
[[server.tokens]]
token = "${OUTSIDE}"
role = "node"
region = "us"
`;
const UTTERANCE = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };

async function join(app: RunningApp, nodeId: string, region: string, token: string) {
  const held = holdJobs();
  held.finish(OUTPUT);
  const capabilities = { ...simulatedCapabilities(['en', 'zh'], false), region };
  await joinSdkNode({
    url: app.nodeUrl,
    nodeId,
    token,
    maxConcurrentJobs: 9,
    onJob: held.onJob,
    capabilities,
  });
  await eventually(async () => {
    const { body } = await app.get<{ nodes: { node_id: string; status: string }[] }>(
      '/api/v1/nodes',
      TOKENS.operator,
    );
    return body.nodes.some(({ node_id, status }) => node_id === nodeId && status === 'ready');
  });
  return held;
}

it('I10: a tenant gets nodes of its regions only, and others the nearest', async () => {
  const app = await startApp({}, TOML);
  const say = (token: string, options = {}) =>
    app.post<{ node_id: string }>('/v1/dispatch/f2f', { ...UTTERANCE, options }, token);
  // It claims to be in Europe, but its token says where it is.
  const outside = await join(app, 'outside', 'eu', OUTSIDE);
  expect((await say(TOKENS.client, { preferred_node_id: 'outside' })).body).toMatchObject({
    error: 'ALL_CANDIDATES_FULL_OR_FAILED',
    detail: expect.stringContaining('outside the regions that the tenant allows'),
  });
  await join(app, 'inside', 'eu', TOKENS.node);
  for (let n = 0; n < 4; n += 1) {
    expect((await say(TOKENS.client)).body).toMatchObject({ node_id: 'inside' });
    expect((await say(TOKENS.otherClient)).body).toMatchObject({ node_id: 'outside' });
    expect((await say(TOKENS.otherClient, { region: 'eu' })).body).toMatchObject({ node_id: 'inside' });
  }
  expect(outside.begun).toHaveLength(4);
  const explain = async (token: string) =>
    (await app.post<ExplainReply>('/v1/explain', UTTERANCE, token)).body;
  expect(await explain(TOKENS.client)).toMatchObject({
    residency: ['eu'],
    reasons: [{ reason: 'outside_residency', count: 1 }],
    regions: [
      { regions: ['us'], round_trip_ms: 0, candidates: 0 },
      { regions: ['eu'], round_trip_ms: 90, candidates: 1 },
      { regions: [], round_trip_ms: 150, candidates: 0 },
    ],
  });
  const { residency, regions } = await explain(TOKENS.otherClient);
  expect(residency).toBeUndefined();
  expect(regions?.map(({ candidates }) => candidates)).toEqual([1, 1, 0]);
});
