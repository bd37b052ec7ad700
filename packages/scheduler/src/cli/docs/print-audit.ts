/** Prints docs/audit.md from the tables of audited actions. Pure. */
import { HTTP_ENDPOINTS } from '@lingua/protocol';
import { AUDIT_ACTIONS } from '../../domain/audit-actions.ts';
import { block, code, page, table } from './markdown.ts';

const INTRODUCTION = `# Audit log

Printed from \`packages/scheduler/src/domain/audit-actions.ts\` and the endpoint table; do not edit it, \`npm run docs\` writes it.

With \`audit.file\` set ([config](config.md)) every instance appends one JSON line per event to its own file, or to standard output,
where each line begins with \`{"audit":\`. It contains neither tokens nor what people said.`;

const EXAMPLE = `{"audit":"drainNode","time":"2026-11-18T12:00:00.000Z","instance_id":"a","result":"done","who":"ann","from":"10.0.0.7","target":"node-3","role":"operator","reason":"new driver","status":200}`;

const FIELDS = `- \`audit\`: the action, one of the tables below. \`time\`: UTC. \`instance_id\`: who wrote it.
- \`result\`: \`done\`; \`refused\`: the caller may not do it, or named something that does not exist; \`failed\`: the scheduler could not do it.
- \`who\`: the name of the token (\`server.tokens\`), 12 digits of the SHA-256 of a token without a name, \`anonymous\`, \`signal\`, or \`unknown\`.
- \`from\`: the address of the caller. \`target\`: the id of what it was done to. \`role\`, \`tenant_id\`, \`reason\`, \`status\`: of the request.

**Rotation.** Rename the file, then send SIGHUP: the instance opens the path again. While the disk is slow or full, events wait in
4 MB of memory; events above that are lost and counted in \`scheduler_audit_lost_total\`, which has an alarm. Nothing waits for the audit log.`;

export function printAudit(): string {
  const requests = HTTP_ENDPOINTS.filter(
    ({ method, roles }) => method !== 'GET' && (roles.includes('operator') || roles.includes('admin')),
  );
  return page(
    INTRODUCTION,
    block('json', EXAMPLE),
    FIELDS,
    '## Requests of operators\n\nThe action is the operationId. What an operator does at endpoints of clients, such as a cancellation, is recorded as well. Erasures are recorded for every caller, without what was erased; minted tokens with `minted_role` and `minted_tenant_id`, and the user as `target`; tokens of guests with the room as `target`, `minted_user_id` and the role in the room.',
    table(
      ['action', 'request', 'does'],
      requests.map(({ operationId, method, path, summary }) => [
        code(operationId),
        code(`${method} ${path}`),
        summary,
      ]),
    ),
    '## Other actions',
    table(
      ['action', 'meaning'],
      Object.entries(AUDIT_ACTIONS).map(([action, meaning]) => [code(action), meaning]),
    ),
  );
}
