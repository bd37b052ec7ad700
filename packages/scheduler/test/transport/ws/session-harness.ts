/** The session socket with fake sessions, on a clock that the test steps. */
import type { MaybePromise } from '../../../src/domain/with-timeout.ts';
import type { ClientEvent } from '../../../src/session/event.ts';
import type { SessionLink } from '../../../src/session/output.ts';
import type { Opening } from '../../../src/session/session.ts';
import type { Opened } from '../../../src/session/session-service.ts';
import { createSessionRoute } from '../../../src/transport/ws/session-route.ts';
import type { SocketRoute } from '../../../src/transport/ws/socket-server.ts';
import { createFakeGate, createFakeLog, createFakeMeter } from './fakes.ts';
import { type Harness, startHarness } from './harness.ts';
import { createSteppedClock } from './stepped-clock.ts';

export const INIT = {
  type: 'session_init',
  client_version: '1',
  platform: 'web',
  src_lang: 'en',
  tgt_lang: 'zh',
};
export const INIT_DEADLINE_MS = 60_000;

/** Opens every session and records its calls. */
function createFakeSessions() {
  const links: SessionLink[] = [];
  const openings: Opening[] = [];
  const received: { sessionId: string; credential: string; event: ClientEvent }[] = [];
  const left: string[] = [];
  return {
    links,
    openings,
    received,
    left,
    isFull: false,
    fullTenant: undefined as string | undefined,
    /** What the next opening waits for, if anything. */
    fetching: undefined as Promise<'there' | 'unavailable'> | undefined,
    open(opening: Opening, link: SessionLink): MaybePromise<Opened> {
      if (this.isFull) return TENANT_FULL;
      openings.push(opening);
      links.push(link);
      const opened = { kind: 'opened', sessionId: `s-${links.length}` } as const;
      return this.fetching?.then((what) => (what === 'there' ? opened : { kind: what })) ?? opened;
    },
    receive(sessionId: string, credential: string, event: ClientEvent): 'taken' | 'unknown' {
      if (!/^s-\d$/.test(sessionId)) return 'unknown';
      received.push({ sessionId, credential, event });
      return 'taken';
    },
    left_(sessionId: string) {
      left.push(sessionId);
    },
  };
}

export const TENANT_FULL = { kind: 'full', limit: 'tenant', detail: 'max_sessions of the tenant' } as const;

const NOT_IN_ROOM = { kind: 'refused', code: 'NOT_IN_ROOM', message: 'you are not in this room' } as const;
const refuse = async () => NOT_IN_ROOM;
const NO_ROOMS: Parameters<typeof createSessionRoute>[0]['rooms'] = {
  create: refuse,
  join: refuse,
  leave: refuse,
  update: refuse,
  moderate: refuse,
  setRawVoice: refuse,
  relay: refuse,
  detached() {},
};

let harness: Harness | undefined;

/** Call it after each test. */
export const stopSessions = async (): Promise<void> => harness?.stop();

export async function startSessions({ maxInvalidMessages = 100 } = {}) {
  const clock = createSteppedClock();
  const sessions = createFakeSessions();
  const meter = createFakeMeter();
  let isDraining = false;
  const session: SocketRoute = createSessionRoute({
    sessions: {
      open: sessions.open.bind(sessions),
      receive: sessions.receive,
      left: sessions.left_,
      isFull: () => sessions.isFull,
      capRefusal: (tenantId: string) => (sessions.fullTenant === tenantId ? TENANT_FULL : undefined),
    } as unknown as Parameters<typeof createSessionRoute>[0]['sessions'],
    rooms: NO_ROOMS,
    gate: createFakeGate({ maxConnections: 10, messages: 1_000 }),
    ids: { traceId: () => 'trace-1' },
    clock,
    meter,
    log: createFakeLog(),
    isDraining: () => isDraining,
    initDeadlineMs: INIT_DEADLINE_MS,
    maxMessageBytes: 64 * 1024,
  });
  const started = await startHarness({ deps: { session }, settings: { maxInvalidMessages } });
  harness = started;
  return {
    clock,
    sessions,
    meter,
    harness: started,
    cuts: () => started.meter.total('scheduler_connections_cut_total', { reason: 'invalid_messages' }),
    drain: () => {
      isDraining = true;
    },
    connect: () => started.connect('/ws/session'),
    refusal: () => started.refusal('/ws/session'),
  };
}
