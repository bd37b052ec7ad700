/** Somebody wants to hear a room that is not for them. */
import WebSocket from 'ws';
import { eventually } from '../../eventually.ts';
import { type Attack, broke, held, type Target } from '../attack.ts';
import { MAIN_TOKENS, TOKENS } from '../deployments.ts';

/** More than one address may guess in a minute. */
const GUESSES = 20;
const PATIENCE_MS = 10_000;
const INIT = {
  type: 'session_init',
  client_version: 'attack/1',
  platform: 'api-gateway',
  src_lang: 'en',
  tgt_lang: 'en',
};

/** Of a client with extensions, and of one without. */
const ENTERED = ['room_state', 'room_create_ack'];

interface Frame {
  readonly type: string;
  readonly code?: string;
}

interface Room {
  readonly room_id: string;
  readonly room_code: string;
}

/** Opens a session, tries the codes one after the other, and returns what each got: `in`, or the code of the refusal. */
async function join(port: number, token: string, codes: readonly string[]): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws/session`, { headers });
  const frames: Frame[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  socket.on('error', () => {});
  const next = (types: readonly string[], from: number): Promise<Frame> =>
    eventually(() => frames.slice(from).find(({ type }) => types.includes(type)), { withinMs: PATIENCE_MS });
  try {
    await eventually(() => socket.readyState === WebSocket.OPEN, { withinMs: PATIENCE_MS });
    socket.send(JSON.stringify(INIT));
    await next(['session_init_ack'], 0);
    const got: string[] = [];
    for (const room_code of codes) {
      const from = frames.length;
      socket.send(JSON.stringify({ type: 'room_join', room_code }));
      const { type, code = type } = await next([...ENTERED, 'room_error', 'error'], from);
      got.push(ENTERED.includes(type) ? 'in' : code);
    }
    return got;
  } finally {
    socket.terminate();
  }
}

async function open(target: Target): Promise<Room> {
  const opened = await target.call<Room>('POST', '/v1/rooms', { token: MAIN_TOKENS.minter, body: {} });
  if (opened.status !== 200) throw new Error(`no room was opened: ${JSON.stringify(opened)}`);
  return opened.body;
}

/** Over HTTP: what reads, changes or ends a room. Returns the first request that was not refused. */
async function reach(target: Target, port: number, token: string, room: Room): Promise<string | undefined> {
  for (const name of [room.room_id, room.room_code])
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/transcript?lang=en'],
      ['GET', '/captions?lang=en'],
      ['POST', '/tokens'],
      ['DELETE', '/members/any/texts'],
      ['DELETE', ''],
    ] as const) {
      const path = `/v1/rooms/${name}${rest}`;
      const body = method === 'POST' ? {} : undefined;
      const { status } = await target.call(method, path, { token, port, body });
      if (status !== 403 && status !== 404) return `${method} ${path} was answered with ${status}`;
    }
  return undefined;
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'guessed-room-codes',
    point: 6,
    does: `Enters and reads a room with the token of another tenant, with the token of a guest of another room, and with ${GUESSES} guessed codes, over sockets and HTTP`,
    modes: ['single', 'redis'],
    async run(target) {
      const [room, other] = [await open(target), await open(target)];
      const guest = await target.call<{ token: string }>('POST', `/v1/rooms/${other.room_id}/tokens`, {
        token: MAIN_TOKENS.minter,
        body: {},
      });
      const user = await target.call<{ token: string }>('POST', '/v1/tokens', {
        token: MAIN_TOKENS.minter,
        body: { user_id: 'eve' },
      });
      for (const port of target.ports) {
        const honest = await join(port, TOKENS.acme, [room.room_code]);
        const invited = await join(port, guest.body.token, [other.room_code]);
        if (`${honest} ${invited}` !== 'in in')
          return broke(`a client of the tenant got ${honest}, and a guest of the room ${invited}`);
        for (const [who, token] of [
          ['another tenant', TOKENS.globex],
          ['a guest of another room', guest.body.token],
        ] as const) {
          const reached = await reach(target, port, token, room);
          if (reached !== undefined) return broke(`for ${who}, ${reached}`);
          const got = await join(port, token, [room.room_code]);
          if (String(got) !== 'ROOM_NOT_FOUND') return broke(`${who} got ${got} for the code of the room`);
        }
        const codes = Array.from({ length: GUESSES }, (_, at) => `guess-${at}`);
        const got = await join(port, TOKENS.acme, codes);
        const tried = got.filter((code) => code === 'ROOM_NOT_FOUND').length;
        const refused = got.filter((code) => code === 'RATE_LIMITED').length;
        if (tried + refused !== GUESSES || refused === 0 || got.at(-1) !== 'RATE_LIMITED')
          return broke(`guessed codes got ${got}`);
        // Another session, and another token, from the same address.
        const later = await join(port, TOKENS.globex, ['guess-again']);
        if (String(later) !== 'RATE_LIMITED') return broke(`a further session got ${later}`);
        // A user of the tenant, over HTTP.
        for (const rest of ['', '/captions?lang=en']) {
          const path = `/v1/rooms/guess-of-a-user${rest}`;
          const { status } = await target.call('GET', path, { token: user.body.token, port });
          if (status !== 429) return broke(`a user who guesses over HTTP got ${status} for ${path}`);
        }
      }
      return held('404 or 403 for every request, and 429 after a few codes');
    },
  },
];
