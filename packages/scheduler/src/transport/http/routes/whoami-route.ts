/** Whose token this is: for programs and pages that show only what their caller may do. */
import type { WhoamiReply } from '@lingua/protocol';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import type { Routes } from '../server/declare-route.ts';

export function addWhoamiRoute(routes: Routes): void {
  routes.add('GET', '/v1/whoami', { isForGuests: true }, ({ principal }, reply) => {
    const { role, roles, isAnonymous, tokenName, tenantId, expiresAt, scope } = principal;
    const room = scope?.room;
    return reply.send(
      omitUndefined({
        role,
        roles: [...roles],
        is_anonymous: isAnonymous,
        name: tokenName,
        tenant_id: tenantId,
        room: room && omitUndefined({ room_id: room.roomId, role: room.role, language: room.language }),
        expires_at_ms: expiresAt,
      }) satisfies WhoamiReply,
    );
  });
}
