/** Instances with rooms on stepped time, over shared stores in memory; the test settles the plans. */
import { createRoomLog } from '../../../../src/adapters/memory/room-log.ts';
import { createRoomRecords } from '../../../../src/adapters/memory/room-records.ts';
import { createLog } from '../../../../src/adapters/system/log.ts';
import type { PlanRequest } from '../../../../src/domain/plan.ts';
import { createRooms, type Rooms } from '../../../../src/session/rooms/create-rooms.ts';
import type { RoomSettings } from '../../../../src/session/rooms/room-deps.ts';
import type { RoomOutput } from '../../../../src/session/rooms/room-output.ts';
import type { JoinRoom } from '../../../../src/session/rooms/room-service.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { createScriptedPlans } from '../../support/scripted-plans.ts';
import { acceptedBy } from './utterances.ts';

const SETTINGS: RoomSettings = {
  limits: {
    maxPerTenant: 3,
    maxMembers: 10,
    maxSpeakers: 10,
    maxLanguages: 4,
    maxListed: 5,
    maxOpenUtterances: 2,
    reorderMs: 1_500,
    unheardMs: 3_000,
    idleMs: 60_000,
    awayMs: 10_000,
    interpreterMs: 10_000,
  },
  retentionMs: 600_000,
  hasDigitCodes: false,
  maxWrongCodes: 5,
};

export function createRoomsRig(limits: Partial<RoomSettings['limits']> = {}) {
  const clock = createManualClock();
  const { log, followers } = createRoomLog({ clock, maxEntries: 1_000, maxAgeMs: 1e9 });
  const stores = { log, followers, records: createRoomRecords({ clock, followersOf: followers.of }) };
  const instances = new Map<string, Rooms>();
  let ids = 0;
  let code = '';

  function start(instanceId: string) {
    const plans = createScriptedPlans();
    const rooms = createRooms({
      clock,
      ids: {
        traceId() {
          ids += 1;
          return `id${ids}`;
        },
      },
      log: createLog('silent'),
      meter: { count() {}, gauge() {}, observe() {} },
      stores,
      plans,
      settings: { ...SETTINGS, limits: { ...SETTINGS.limits, ...limits } },
      canRecogniseFirst: () => true,
      canTranslate: () => true,
      voiceOf: async (jobId) => ({ audio: jobId, format: 'pcm16' }),
      self: () => `${instanceId}/1`,
      tell: async (follower, message) =>
        instances.get(follower.slice(0, follower.indexOf('/')))?.receive(message),
      hint: (follower, hint) =>
        instances.get(follower.slice(0, follower.indexOf('/')))?.receiveHint(structuredClone(hint)),
    });
    instances.set(instanceId, rooms);

    /** A member with a connection. */
    async function enter(sessionId: string, hears: string, order: Partial<JoinRoom> = {}) {
      const got: RoomOutput[] = [];
      const link = { sendRoom: (output: RoomOutput) => void got.push(output) };
      const by = { sessionId, tenantId: 't', address: 'x', isLegacy: false, source: 'en', target: hears };
      const refused =
        code === ''
          ? await rooms.members.create(by, { settings: {}, ...order }, link)
          : await rooms.members.join(by, { code, ...order }, link);
      for (const output of got) if (output.kind === 'entered') code = output.room.code;
      const settled: string[] = [];
      let said = 0;
      return {
        got,
        settled,
        refused,
        captions: () =>
          got.flatMap((output) =>
            output.kind === 'caption'
              ? [`${output.caption.seq} ${output.caption.text}${output.caption.isFinal ? '' : '…'}`]
              : [],
          ),
        /** Speaks, and lets what follows happen. */
        async say(text: string): Promise<void> {
          said += 1;
          const { plan } = acceptedBy(sessionId, `${sessionId}.${said}`);
          const request: PlanRequest = {
            ...plan,
            tenantId: 't',
            deadlineAt: clock.now() + 30_000,
            wanted: [{ language: 'en', isVoiceWanted: false }],
            input: { kind: 'audio', source: { kind: 'held', bytes: 1 }, audio: Buffer.from(text) },
          };
          rooms.plans.run(request, {
            admitted() {},
            recognised() {},
            moved() {},
            settled: (_part, outcome) =>
              settled.push(outcome.kind === 'failed' ? outcome.code : outcome.result.textAsr),
          });
          await clock.advance(0);
        },
        leave: () => rooms.members.leave(sessionId, code),
        disconnect: async () => {
          rooms.members.detached(sessionId, link);
          await clock.advance(0);
        },
      };
    }

    return {
      rooms,
      plans,
      enter,
      /** Recognises the audio with this text. */
      async recognise(text: string): Promise<void> {
        plans.plan(text).recognise();
        await clock.advance(0);
      },
      /** Of the newest plan with this text. */
      async translate(text: string, language: string): Promise<void> {
        plans.plan(text).finish(language);
        await clock.advance(0);
      },
      /** It hears of nothing any more. */
      kill(): void {
        instances.delete(instanceId);
        rooms.stop();
      },
    };
  }

  return {
    clock,
    stores,
    start,
    record: async () => {
      const [name] = await stores.records.list('t');
      return name && stores.records.load(name.roomId);
    },
  };
}

/** A room whose host is on `a`; on `b` one member hears Spanish, one French. */
export async function startTalk() {
  const rig = createRoomsRig();
  const a = rig.start('a');
  const b = rig.start('b');
  const host = await a.enter('host', 'en');
  const es = await b.enter('es', 'es');
  const fr = await b.enter('fr', 'fr');
  return { ...rig, a, b, host, es, fr };
}
