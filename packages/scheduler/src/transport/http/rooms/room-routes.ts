/** Rooms: opening, reading, changing and ending them, and the tokens of their guests. Members join by session sockets. */
import { randomUUID } from 'node:crypto';
import {
  DEFAULT_TOKEN_SECONDS,
  type RoomChange,
  type RoomDraft,
  type RoomEnded,
  type RoomErased,
  type RoomList,
  type RoomMemberPath,
  type RoomPath,
  type RoomQuery,
  type RoomToken,
  type RoomTokenMint,
} from '@lingua/protocol';
import { foldLanguage } from '../../../domain/language.ts';
import type { RoomService } from '../../../session/rooms/room-service.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { summarizeRoom, viewRoom } from '../../wire/room-view.ts';
import { NO_KEYS, NOT_MINTING } from '../routes/token-routes.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { type AuditedFields, targetInPath } from '../server/log-action.ts';
import { guesserAt, idOfRoom, refusalOfRoom, settingsIn, whoseRoom } from './room-request.ts';

export function addRoomRoutes(routes: Routes, services: HttpServices, rooms: RoomService): void {
  const { gate, clock } = services;

  routes.add<{ Body: RoomDraft }>(
    'POST',
    '/v1/rooms',
    { isIntake: true, namesTenant: true },
    async ({ body, principal }, reply) => {
      const whose = whoseRoom(gate, principal, body.tenant_id, true);
      if (whose.kind === 'refused') return replyError(reply, whose.refusal);
      const { tenantId } = whose;
      const made = await rooms.create(
        omitUndefined({ tenantId, settings: settingsIn(body), hasDigitCode: body.digit_code }),
      );
      return made.kind === 'refused' ? replyError(reply, refusalOfRoom(made)) : viewRoom(made.room);
    },
  );

  routes.add<{ Querystring: RoomQuery }>('GET', '/v1/rooms', {}, async ({ query, principal }, reply) => {
    const whose = whoseRoom(gate, principal, query.tenant_id, true);
    if (whose.kind === 'refused') return replyError(reply, whose.refusal);
    const listed = await rooms.list(whose.tenantId);
    if (listed.kind === 'refused') return replyError(reply, refusalOfRoom(listed));
    const inOrder = [...listed.rooms].sort((one, other) => one.createdAt - other.createdAt);
    return { rooms: inOrder.map(summarizeRoom) } satisfies RoomList;
  });

  routes.add<{ Params: RoomPath; Querystring: RoomQuery }>(
    'GET',
    '/v1/rooms/:id',
    { isForGuests: true },
    async (request, reply) => {
      const { params, query, principal } = request;
      const whose = whoseRoom(gate, principal, query.tenant_id, false);
      if (whose.kind === 'refused') return replyError(reply, whose.refusal);
      const found = await rooms.find(whose.tenantId, params.id, guesserAt(gate, request));
      return found.kind === 'refused' ? replyError(reply, refusalOfRoom(found)) : viewRoom(found.room);
    },
  );

  routes.add<{ Params: RoomPath; Querystring: RoomQuery; Body: RoomChange }>(
    'PATCH',
    '/v1/rooms/:id',
    { audit: targetInPath },
    async ({ params, query, body, principal }, reply) => {
      const whose = whoseRoom(gate, principal, query.tenant_id, true);
      if (whose.kind === 'refused') return replyError(reply, whose.refusal);
      const { tenantId } = whose;
      const found = await rooms.find(tenantId, params.id);
      if (found.kind === 'refused') return replyError(reply, refusalOfRoom(found));
      const changed = await rooms.change(tenantId, found.room.roomId, settingsIn(body));
      return changed.kind === 'refused' ? replyError(reply, refusalOfRoom(changed)) : viewRoom(changed.room);
    },
  );

  routes.add<{ Params: RoomPath; Querystring: RoomQuery }>(
    'DELETE',
    '/v1/rooms/:id',
    { audit: targetInPath },
    async ({ params, query, principal }, reply) => {
      const whose = whoseRoom(gate, principal, query.tenant_id, true);
      if (whose.kind === 'refused') return replyError(reply, whose.refusal);
      const { tenantId } = whose;
      const found = await rooms.find(tenantId, params.id);
      if (found.kind === 'refused') return replyError(reply, refusalOfRoom(found));
      const ended = await rooms.end(tenantId, found.room.roomId);
      if (ended.kind === 'refused') return replyError(reply, refusalOfRoom(ended));
      return { ok: true } satisfies RoomEnded;
    },
  );

  routes.add<{ Params: RoomPath; Querystring: RoomQuery; Body: RoomTokenMint }>(
    'POST',
    '/v1/rooms/:id/tokens',
    { audit: guestIn },
    async ({ params, query, body, principal }, reply) => {
      const whose = whoseRoom(gate, principal, query.tenant_id, true);
      if (whose.kind === 'refused') return replyError(reply, whose.refusal);
      if (!principal.roles.has('admin') && principal.mayMint !== true) return replyError(reply, NOT_MINTING);
      const { tenantId } = whose;
      const found = await rooms.find(tenantId, params.id);
      if (found.kind === 'refused') return replyError(reply, refusalOfRoom(found));
      const { roomId: room_id, code: room_code } = found.room;
      const { role = 'listener' } = body;
      // In the body, so that the audit log has it, too.
      body.user_id ??= `guest-${randomUUID()}`;
      const sub = body.user_id;
      const iat = Math.floor(clock.now() / 1_000);
      const exp = iat + (body.expires_in_seconds ?? DEFAULT_TOKEN_SECONDS);
      const language = body.language && foldLanguage(body.language);
      const token = await gate.mint(
        omitUndefined({
          sub,
          role: 'client' as const,
          tenant_id: tenantId,
          room: omitUndefined({ room_id, role, language }),
          by: principal.tokenName,
          jti: randomUUID(),
          iat,
          exp,
        }),
      );
      if (token === undefined) return replyError(reply, NO_KEYS);
      return {
        token,
        expires_at_ms: exp * 1_000,
        user_id: sub,
        role,
        room_id,
        room_code,
      } satisfies RoomToken;
    },
  );

  routes.add<{ Params: RoomMemberPath; Querystring: RoomQuery }>(
    'DELETE',
    '/v1/rooms/:id/members/:member/texts',
    { audit: targetInPath },
    async ({ params, query, principal }, reply) => {
      const whose = whoseRoom(gate, principal, query.tenant_id, true);
      if (whose.kind === 'refused') return replyError(reply, whose.refusal);
      const { tenantId } = whose;
      const roomId = await idOfRoom(rooms, tenantId, params.id);
      const erased = await rooms.eraseMember(tenantId, roomId, params.member);
      if (erased.kind === 'refused') return replyError(reply, refusalOfRoom(erased));
      return { ok: true, utterances: erased.utterances } satisfies RoomErased;
    },
  );
}

/** The room, and whose token opens it. */
const guestIn: AuditedFields = ({ params, body }) => {
  const { user_id, role = 'listener', expires_in_seconds } = (body ?? {}) as Partial<RoomTokenMint>;
  return {
    target: (params as RoomPath).id,
    details: {
      minted_user_id: typeof user_id === 'string' ? user_id : undefined,
      minted_role: String(role),
      expires_in_seconds: typeof expires_in_seconds === 'number' ? expires_in_seconds : DEFAULT_TOKEN_SECONDS,
    },
  };
};
