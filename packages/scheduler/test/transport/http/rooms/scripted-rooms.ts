/** A RoomService whose answers a test decides, and a server in front of it. */
import { generateKeyPairSync } from 'node:crypto';
import type { RoomRecord } from '../../../../src/domain/room.ts';
import type {
  Caption,
  CaptionEvent,
  RoomService,
  RoomSettings,
} from '../../../../src/session/rooms/room-service.ts';
import { digestToken } from '../../../../src/transport/access/tokens.ts';
import { roomOf } from '../../../contracts/room-records.ts';
import { bearer, type StartOptions, startServer } from '../start-server.ts';

export const captionOf = (seq: number, parts: Partial<Caption> = {}): Caption => ({
  seq,
  speaker: 's-1',
  speakerName: 'Ana',
  language: 'es',
  revision: 0,
  isTranslated: true,
  isFinal: true,
  failed: undefined,
  text: `hola ${seq}`,
  source: { language: 'en', text: `hello ${seq}` },
  startedAt: 1_700_000_000_000 + 2_000 * seq,
  endedAt: 1_700_000_001_500 + 2_000 * seq,
  ...parts,
});

const NOT_FOUND = { kind: 'refused', code: 'ROOM_NOT_FOUND', message: 'there is no such room' } as const;

const changed = (room: RoomRecord, settings: RoomSettings): RoomRecord => ({
  ...room,
  title: settings.title ?? room.title,
  isRecorded: settings.isRecorded ?? room.isRecorded,
  isLocked: settings.isLocked ?? room.isLocked,
  fixedLanguages: settings.fixedLanguages ?? room.fixedLanguages,
});

/** Rooms of the tenant acme. */
export function createScriptedRooms() {
  const calls: unknown[][] = [];
  /** Addresses whose wrong names count. */
  const guessers: string[] = [];
  const listeners = new Set<(event: CaptionEvent) => void>();
  const captions: Caption[] = [];
  const room: RoomRecord = roomOf({ roomId: 'room-1', tenantId: 'acme', code: 'abc-def' });
  const isKnown = (tenantId: string, name: string): boolean =>
    tenantId === 'acme' && (name === room.roomId || name === room.code);
  const service: RoomService = {
    async create(order) {
      calls.push(['create', order]);
      if (order.hasDigitCode === true)
        return {
          kind: 'refused',
          code: 'INVALID_ROOM_CODE',
          message: 'no digit codes',
          field: '/digit_code',
        };
      return { kind: 'done', room: changed(room, order.settings) };
    },
    async find(tenantId, name, guesser) {
      if (guesser !== undefined) guessers.push(guesser);
      return isKnown(tenantId, name) ? { kind: 'done', room } : NOT_FOUND;
    },
    list: async (tenantId) => ({ kind: 'done', rooms: tenantId === 'acme' ? [room] : [] }),
    async change(...given) {
      calls.push(['change', ...given]);
      return { kind: 'done', room: changed(room, given[2]) };
    },
    async end(...given) {
      calls.push(['end', ...given]);
      return { kind: 'done' };
    },
    async captions(order, listen) {
      calls.push(['captions', order]);
      if (order.language === 'xx')
        return { kind: 'refused', code: 'LANGUAGE_UNAVAILABLE', message: 'no node translates into xx' };
      listeners.add(listen);
      for (const caption of captions) listen({ kind: 'caption', caption });
      return { kind: 'done', stop: () => void listeners.delete(listen) };
    },
    async transcript({ tenantId, roomId, afterSeq, limit }) {
      if (!isKnown(tenantId, roomId)) return NOT_FOUND;
      const later = captions.filter(({ seq }) => seq > afterSeq);
      const page = later.slice(0, limit);
      const nextSeq = later.length > limit ? page.at(-1)?.seq : undefined;
      return { kind: 'done', captions: page, firstSeq: 1, nextSeq };
    },
    async eraseMember(...given) {
      calls.push(['eraseMember', ...given]);
      return { kind: 'done', utterances: 2 };
    },
    async eraseSaid(...given) {
      calls.push(['eraseSaid', ...given]);
      return { kind: 'done', utterances: 2 };
    },
    onEnded: () => undefined,
  };
  return {
    service,
    calls,
    guessers,
    listeners,
    captions,
    say: (event: CaptionEvent) => {
      for (const listen of listeners) listen(event);
    },
  };
}

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
export const SERVER = bearer('acme-server-token-0123456789');
export const OTHER = bearer('globex-token-0123456789');

export async function startRooms(options: StartOptions = {}) {
  const rooms = createScriptedRooms();
  const server = await startServer({
    ...options,
    access: {
      trustedNetworks: [],
      keys: [{ id: 'k1', algorithm: 'EdDSA', verifies: publicKey, signs: privateKey }],
      tokens: [
        {
          sha256: digestToken('acme-server-token-0123456789'),
          role: 'client',
          tenantId: 'acme',
          mayMint: true,
        },
        { sha256: digestToken('globex-token-0123456789'), role: 'client', tenantId: 'globex' },
      ],
      ...options.access,
    },
    services: { rooms: rooms.service },
  });
  return { ...rooms, ...server };
}
