/** Searches and sums over two instances on one Redis, and what is said when one of them does not answer. */
import type { LanguagesReply, SearchReply, TenantsReply } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { connectSession, INIT, sessionUrl } from '../support/session-client.ts';
import { type Instance, startInstances } from './start-instances.ts';

const TEST_MS = 60_000;

it(
  'an instance finds the sessions, jobs and refusals of the others',
  async () => {
    const { instances } = await startInstances(2);
    const [a, b] = instances as [Instance, Instance];
    await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
    await b.readyNodes(1);
    const client = connectSession({ url: sessionUrl(a) });
    await client.opened();
    await client.init(INIT);
    const { job_id: jobId } = await a.dispatch({ request_id: 'order-5' });
    await a.settled(jobId);
    await a.tryDispatch({ src_lang: 'fr', tgt_lang: 'ko', tenant_id: 'acme' });

    const { body } = await b.get<SearchReply>(`/api/v1/search?q=${client.sessionId()}`);
    expect(body.sessions).toMatchObject([{ session_id: client.sessionId(), instance_id: a.instanceId }]);
    expect([...body.answered].sort()).toEqual([a.instanceId, b.instanceId].sort());
    const jobs = await b.get<SearchReply>('/api/v1/search?kind=jobs&q=order-5');
    expect(jobs.body.jobs.map(({ job_id }) => job_id)).toEqual([jobId]);
    const nodes = await b.get<SearchReply>('/api/v1/search?kind=nodes&q=node-a');
    expect(nodes.body.nodes).toMatchObject([{ node_id: 'node-a', instance_id: a.instanceId }]);

    const { body: matrix } = await b.get<LanguagesReply>('/api/v1/languages');
    expect(matrix.cells.find(({ src }) => src === 'fr')).toMatchObject({ tgt: 'ko', refused: 1 });
    const { body: tenants } = await b.get<TenantsReply>('/api/v1/tenants');
    expect(tenants.tenants.find(({ tenant_id }) => tenant_id === 'acme')).toMatchObject({
      refused: { NO_CAPABLE_NODE: 1 },
    });
  },
  TEST_MS,
);
