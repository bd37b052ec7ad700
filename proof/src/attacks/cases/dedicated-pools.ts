/** A node wants to hear a tenant: it claims what the tenant's pool requires, or another node's id. */
import { type Attack, broke, held, PULL_NODE, UTTERANCE } from '../attack.ts';
import { BOUND_NODE, OPEN, TOKENS } from '../deployments.ts';

/** The language by which the pool knows its nodes. */
const CLAIM = { semantic_langs: ['en', 'zh', 'de'] };

export const ATTACKS: readonly Attack[] = [
  {
    name: 'claimed-pool',
    point: 4,
    does: "Registers a node that claims what a tenant's dedicated pool requires",
    modes: ['single', 'redis'],
    on: OPEN,
    async run(target) {
      const register = (token: string, nodeId: string) =>
        target.call('POST', '/v1/node/register', {
          token,
          body: { ...PULL_NODE, ...CLAIM, node_id: nodeId },
        });
      const dispatch = () => target.call('POST', '/v1/dispatch/f2f', { token: TOKENS.acme, body: UTTERANCE });
      const claim = await register(TOKENS.node, 'node-of-eve');
      if (claim.status !== 200)
        return broke(`the node was refused with ${claim.status}: nothing was attacked`);
      const lured = await dispatch();
      if (lured.status === 200) return broke(`the job was placed on ${lured.body.node_id}`);
      await register(BOUND_NODE, 'node-of-acme');
      const honest = await dispatch();
      if (honest.body.node_id !== 'node-of-acme')
        return broke(`the bound node got no job: ${JSON.stringify(honest.body)}`);
      return held(`no job; the dispatch was answered with ${lured.status}`);
    },
  },
  {
    name: 'squatted-node-id',
    point: 6,
    does: 'Registers the id to which another token is pinned, before the real node does',
    modes: ['single', 'redis'],
    async run(target) {
      const body = { ...PULL_NODE, node_id: 'node-pinned' };
      const squat = await target.call('POST', '/v1/node/register', { token: TOKENS.node, body });
      if (squat.status !== 403) return broke(`the id was given away with ${squat.status}`);
      const port = target.otherPort;
      const honest = await target.call('POST', '/v1/node/register', { token: TOKENS.pinned, body, port });
      return honest.status === 200 ? held('403') : broke(`the real node got ${honest.status}`);
    },
  },
];
