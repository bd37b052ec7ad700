/** Cold path: new rooms and their codes, and which room a code opens. Codes cannot be guessed, or only slowly. */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { RoomId, RoomRecord, RoomRefusal } from '../../domain/room.ts';
import type { RoomDeps } from './room-deps.ts';
import type { Attendee, JoinRoom, RoomSettings } from './room-service.ts';
import { changeSettings, NOT_FOUND, newRoom, refusal } from './room-steps.ts';
import type { RoomWriter } from './room-writer.ts';

const CODE_TRIES = 8;
const MAX_ADDRESSES = 10_000;
const MINUTE_MS = 60_000;

export function createRoomCodes(deps: RoomDeps & { readonly writer: RoomWriter }) {
  const { clock, ids, settings, stores, writer } = deps;
  const { limits } = settings;
  const wrongCodes = createBoundedMap<string, { count: number; until: number }>({ max: MAX_ADDRESSES });

  async function createRoom(
    tenantId: TenantId,
    given: RoomSettings,
    hasDigits: boolean,
  ): Promise<{ readonly kind: 'done'; readonly room: RoomRecord } | RoomRefusal> {
    if (hasDigits && !settings.hasDigitCodes)
      return refusal(
        'FORBIDDEN',
        'codes of six digits can be guessed; an operator can allow them (rooms.legacy_codes)',
      );
    const checked = changeSettings(
      given,
      limits,
    )(newRoom({ ...UNNAMED, tenantId, createdAt: 0, settings: {} }));
    if (checked !== undefined && 'kind' in checked) return checked;
    const roomId = `r-${ids.traceId()}`;
    for (let tries = 0; tries < CODE_TRIES; tries += 1) {
      const code = hasDigits ? digitsOf(ids.traceId()) : ids.traceId().slice(0, 12).toLowerCase();
      const bound = await stores.records.bind(
        { tenantId, code, roomId },
        2 * limits.idleMs,
        limits.maxPerTenant,
      );
      if (bound === 'taken') continue;
      if (bound === 'full')
        return refusal('ROOM_FULL', `your tenant has its ${limits.maxPerTenant} rooms; end one first`);
      const room = newRoom({ roomId, tenantId, code, createdAt: clock.now(), settings: given });
      await writer.create(room);
      return { kind: 'done', room: { ...room, version: 1 } };
    }
    return refusal('RATE_LIMITED', 'no free code was found; try again');
  }

  /** R6: a code opens a room of its own tenant alone. */
  async function resolve(
    by: Attendee,
    { code, grant }: Pick<JoinRoom, 'code' | 'grant'>,
  ): Promise<RoomId | RoomRefusal> {
    const now = clock.now();
    const tried = wrongCodes.get(by.address);
    const wrong = tried !== undefined && tried.until > now ? tried : { count: 0, until: now + MINUTE_MS };
    if (wrong.count >= settings.maxWrongCodes)
      return refusal('RATE_LIMITED', 'too many wrong codes from your address; try again in a minute');
    const roomId = await stores.records.find(by.tenantId, code);
    // A guest of another room gets the same answer for a code that exists, or it could find codes.
    if (roomId === undefined || (grant !== undefined && grant.roomId !== roomId)) {
      wrongCodes.set(by.address, { ...wrong, count: wrong.count + 1 });
      return { ...(grant === undefined ? NOT_FOUND : NOT_GRANTED), field: '/room_code' };
    }
    return roomId;
  }

  return { createRoom, resolve };
}

const NOT_GRANTED = refusal(
  'ROOM_NOT_FOUND',
  'your token opens no room with this code: it is for another room, or the room has ended',
);
const UNNAMED = { roomId: '', code: '' };

/** From 100000 to 999999, as the deployed page wants them. */
function digitsOf(random: string): string {
  let number = 0;
  for (const char of random) number = (number * 31 + char.charCodeAt(0)) % 900_000;
  return String(100_000 + number);
}
