/** Four pools, three of them with a node; acme may not leave pool 1, globex may not leave pool 4, which is empty. */
import { joinPooledNode, poolsToml } from './pooled-nodes.ts';
import { startApp } from './start-app.ts';

export const FOUR_POOLS = [
  { id: 4, service: 'lead' },
  { id: 1, service: 'gold' },
  { id: 2, service: 'silver' },
  { id: 3, service: 'bronze' },
];

export async function startFourPools() {
  const strict = { strict_pool_eligibility: true };
  const app = await startApp({}, poolsToml(FOUR_POOLS, { acme: 1, globex: 4 }, strict));
  const gold = await joinPooledNode(app.nodeUrl, 'gold', { isHeld: true });
  await joinPooledNode(app.nodeUrl, 'silver');
  await joinPooledNode(app.nodeUrl, 'bronze');
  await app.readyNodes(3);
  return { app, gold };
}
