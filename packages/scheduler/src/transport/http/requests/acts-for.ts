/** Whether a peer may speak for a node: its credential allows the id, and nobody else registered it. */
import type { NodeId } from '../../../domain/ids.ts';
import type { Principal } from '../../access/gate.ts';
import type { HttpServices } from '../server/http-services.ts';

export function actsFor(
  services: Pick<HttpServices, 'gate' | 'registry' | 'elsewhere'>,
  principal: Principal,
  nodeId: NodeId,
): boolean {
  if (!services.gate.mayUseNode(principal, nodeId)) return false;
  const owner = (services.elsewhere?.find(nodeId) ?? services.registry.get(nodeId))?.credential;
  return owner === undefined || owner === principal.credential || principal.roles.has('operator');
}
