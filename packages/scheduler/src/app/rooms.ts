/** Composition root: rooms, over the store that instances share, or in memory. */
import { createRoomLog } from '../adapters/memory/room-log.ts';
import { createRoomRecords } from '../adapters/memory/room-records.ts';
import type { Config } from '../config/settings.ts';
import { AUTO } from '../domain/language.ts';
import type { PlanRunner } from '../domain/plan.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { FleetPlanner } from '../runtime/stages/fleet-plan.ts';
import { createRooms, type Rooms } from '../session/rooms/create-rooms.ts';
import type { RoomDeps, RoomStores } from '../session/rooms/room-deps.ts';
import type { MultiInstance } from './multi-instance.ts';
import { roomLogLimits, roomSettings } from './settings/room-settings.ts';

const NEEDS_PUBLIC = { needsPublicNode: true };
const SOME_AUDIO = { kind: 'audio', source: { kind: 'held', bytes: 0 }, audio: undefined } as const;
const SOME_TEXT = { kind: 'text', text: '' } as const;
const isPlanned = ({ targets }: ReturnType<FleetPlanner>): boolean =>
  targets.every(({ missing }) => missing === undefined);
/** A single instance has no other name. */
const ONLY = 'self/0';

export function createConfiguredRooms(
  deps: Pick<RoomDeps, 'clock' | 'ids' | 'log' | 'meter'> & {
    readonly config: Config;
    readonly clock: Clock;
    readonly ids: IdSource;
    readonly log: Log;
    readonly meter: Meter;
    readonly plans: PlanRunner;
    readonly planOf: FleetPlanner;
    readonly store: Pick<JobStore, 'get'>;
    readonly multiInstance: MultiInstance | undefined;
  },
): Rooms {
  const { config, planOf, store, multiInstance } = deps;
  return createRooms({
    ...deps,
    stores: multiInstance?.roomStores ?? inMemory(config, deps.clock),
    settings: roomSettings(config),
    // An unknown language is recognised before the rest is planned.
    canRecogniseFirst(request, wanted) {
      if (!isPlanned(planOf(request))) return false;
      // Nodes that take whole jobs only translate what they have recognised, and no text of others.
      const fromText = { ...request, input: SOME_TEXT };
      return (
        request.source === AUTO ||
        wanted.every(
          (target) =>
            isPlanned(planOf({ ...fromText, wanted: [target] })) ||
            !isPlanned(planOf({ ...request, wanted: [target] })),
        )
      );
    },
    canTranslate: (tenantId, source, target) =>
      isPlanned(
        planOf({
          tenantId,
          sessionId: '',
          need: NEEDS_PUBLIC,
          input: SOME_AUDIO,
          source,
          wanted: [{ language: target, isVoiceWanted: false }],
        }),
      ),
    async voiceOf(jobId) {
      const { result } = (await store.get(jobId)) ?? {};
      return result === undefined || result.ttsAudio === ''
        ? undefined
        : { audio: result.ttsAudio, format: result.ttsFormat };
    },
    self: multiInstance?.driver ?? (() => ONLY),
    tell: async (follower, message) => multiInstance?.rooms.tell(follower, message),
    hint: (follower, hint) => multiInstance?.roomHint(follower, hint),
  });
}

function inMemory(config: Config, clock: Clock): RoomStores {
  const { log, followers } = createRoomLog({ clock, ...roomLogLimits(config) });
  return { log, followers, records: createRoomRecords({ clock, followersOf: followers.of }) };
}
