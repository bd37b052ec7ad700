/** Prints why a job was refused. A client learns which nodes exist only if it named them. Pure. */
import type { DispatchOutcome } from '../../../domain/dispatch.ts';
import type { NodeId } from '../../../domain/ids.ts';
import type { Principal } from '../../access/gate.ts';
import type { Refusal } from '../../wire/error-reply.ts';

/** `named`: the node that the caller prefers. */
export function refusedDispatch(
  outcome: Extract<DispatchOutcome, { kind: 'refused' }>,
  { roles }: Principal,
  named: NodeId | undefined,
): Refusal {
  const { code, message: detail, hint, reasons, retryAfterMs } = outcome;
  const visible = roles.has('viewer')
    ? reasons
    : reasons?.map(({ reason, count, sampleNodeIds }) => ({
        reason,
        count,
        sampleNodeIds: sampleNodeIds.filter((nodeId) => nodeId === named),
      }));
  return { code, detail, hint, reasons: visible, retryAfterMs };
}
