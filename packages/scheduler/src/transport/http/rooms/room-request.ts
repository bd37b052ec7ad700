/** What requests about rooms mean: whose room it is, what the caller may do with it, and how a refusal is answered. */
import type { RoomChange } from '@lingua/protocol';
import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../../domain/errors.ts';
import type { TenantId } from '../../../domain/ids.ts';
import { foldLanguages } from '../../../domain/language.ts';
import type { RoomId, RoomRefusal, RoomRefusalCode } from '../../../domain/room.ts';
import type { RoomService, RoomSettings } from '../../../session/rooms/room-service.ts';
import type { Gate, Principal } from '../../access/gate.ts';
import { networkOf } from '../../access/networks.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

export type Whose =
  | { readonly kind: 'tenant'; readonly tenantId: TenantId }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** `isManaging`: not for users with minted tokens, who have a code or the room in their token. */
export function whoseRoom(
  gate: Pick<Gate, 'tenantOf'>,
  principal: Principal,
  named: string | undefined,
  isManaging: boolean,
): Whose {
  if (isManaging && principal.scope !== undefined && !principal.roles.has('operator'))
    return { kind: 'refused', refusal: NOT_FOR_USERS };
  const tenant = gate.tenantOf(principal, named);
  return tenant.kind === 'tenant'
    ? tenant
    : { kind: 'refused', refusal: { code: 'FORBIDDEN', detail: tenant.message, field: '/tenant_id' } };
}

/** The address of a user with a minted token, which could otherwise try all codes. A guest names its own room. */
export const guesserAt = (
  gate: Pick<Gate, 'addressOf'>,
  { principal, raw }: FastifyRequest,
): string | undefined =>
  principal.scope === undefined || principal.scope.room !== undefined || principal.roles.has('operator')
    ? undefined
    : networkOf(gate.addressOf(raw));

/** A room that has ended has no code any more, and only its id names it. */
export async function idOfRoom(
  rooms: Pick<RoomService, 'find'>,
  tenantId: TenantId,
  name: string,
): Promise<RoomId> {
  const found = await rooms.find(tenantId, name);
  return found.kind === 'done' ? found.room.roomId : name;
}

export const settingsIn = ({ title, recorded, locked, languages }: RoomChange): RoomSettings =>
  omitUndefined({
    title,
    isRecorded: recorded,
    isLocked: locked,
    fixedLanguages: languages && foldLanguages(languages),
  });

const CODES: Readonly<Record<RoomRefusalCode, ErrorCode>> = {
  ROOM_NOT_FOUND: 'NOT_FOUND',
  NOT_IN_ROOM: 'NOT_FOUND',
  ALREADY_IN_ROOM: 'INVALID_MESSAGE',
  ROOM_FULL: 'RATE_LIMITED',
  ROOM_LOCKED: 'FORBIDDEN',
  INVALID_ROOM_CODE: 'INVALID_MESSAGE',
  LANGUAGE_UNAVAILABLE: 'NO_CAPABLE_NODE',
  FORBIDDEN: 'FORBIDDEN',
  RATE_LIMITED: 'RATE_LIMITED',
  SCHEDULER_DEPENDENCY_DOWN: 'SCHEDULER_DEPENDENCY_DOWN',
  INTERNAL_ERROR: 'INTERNAL_ERROR',
};

export const refusalOfRoom = ({ code, message, field }: RoomRefusal): Refusal => ({
  code: CODES[code],
  detail: message,
  ...(field !== undefined && { field }),
  ...(CODES[code] === 'NOT_FOUND' && { hint: HINT }),
});

const HINT =
  'A room ends when a host or its server ends it, or when nothing was said for long. Check the id, the code and the tenant of the token.';

const NOT_FOR_USERS: Refusal = {
  code: 'FORBIDDEN',
  detail: "a minted token may join rooms, but not manage them: use the tenant's own token",
};
