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
  const wrongNames = createBoundedMap<string, { count: number; until: number }>({ max: MAX_ADDRESSES });
  /** Of the addresses that are trying now: each entry is a request or a message under way. */
  const lastTries = new Map<string, Promise<void>>();

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
  function resolve(
    by: Attendee,
    { code, grant }: Pick<JoinRoom, 'code' | 'grant'>,
  ): Promise<RoomId | RoomRefusal> {
    return tryName(by.address, async () => {
      const roomId = await stores.records.find(by.tenantId, code);
      // A guest of another room gets the same answer for a code that exists, or it could find codes.
      if (roomId !== undefined && (grant === undefined || grant.roomId === roomId)) return roomId;
      return { ...(grant === undefined ? NOT_FOUND : NOT_GRANTED), field: '/room_code' };
    });
  }

  /** One after the other for each address: otherwise many tries at once would all see the count before them. */
  async function tryName<T>(address: string, look: () => Promise<T | RoomRefusal>): Promise<T | RoomRefusal> {
    const before = lastTries.get(address);
    const tried = (before ?? Promise.resolve()).then(async () => {
      const now = clock.now();
      const known = wrongNames.get(address);
      const wrong = known !== undefined && known.until > now ? known : { count: 0, until: now + MINUTE_MS };
      if (wrong.count >= settings.maxWrongCodes) return TOO_MANY;
      const found = await look();
      if (isNotFound(found)) wrongNames.set(address, { ...wrong, count: wrong.count + 1 });
      return found;
    });
    const ended = tried.then(
      () => undefined,
      () => undefined,
    );
    lastTries.set(address, ended);
    try {
      return await tried;
    } finally {
      if (lastTries.get(address) === ended) lastTries.delete(address);
    }
  }

  return { createRoom, resolve, tryName };
}

const TOO_MANY = refusal('RATE_LIMITED', 'too many wrong codes from your address; try again in a minute');
const isNotFound = (found: unknown): boolean =>
  typeof found === 'object' && (found as RoomRefusal).code === 'ROOM_NOT_FOUND';
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
