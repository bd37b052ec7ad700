/** Vocabulary: what rooms need from the rest of the program. */
import type { JobId, TenantId } from '../../domain/ids.ts';
import type { Language } from '../../domain/language.ts';
import type { PlanRequest, PlanRunner, WantedTarget } from '../../domain/plan.ts';
import type { MemberId, RoomId, RoomLimits } from '../../domain/room.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { RoomFollowers } from '../../ports/room-followers.ts';
import type { RoomLog } from '../../ports/room-log.ts';
import type { RoomRecords } from '../../ports/room-records.ts';
import type { Signal } from './room-service.ts';

export interface RoomStores {
  readonly log: RoomLog;
  readonly records: RoomRecords;
  readonly followers: RoomFollowers;
}

/** What one instance sends to another one about a room. May come twice, and in any order. */
export type RoomMessage =
  /** The log has this position, or the record this version. */
  | {
      readonly kind: 'advanced';
      readonly roomId: RoomId;
      readonly last: number;
      readonly version: number;
      /** Texts were erased: what was read is read again. */
      readonly isErased?: boolean | undefined;
    }
  | {
      readonly kind: 'signal';
      readonly roomId: RoomId;
      readonly to: MemberId;
      readonly from: MemberId;
      readonly signal: Signal['kind'];
      readonly body: unknown;
    };

/** Those of this follower's members that speak now. May be lost. */
export interface ActivityHint {
  readonly roomId: RoomId;
  readonly follower: string;
  readonly speaking: readonly MemberId[];
}

export interface RoomSettings {
  readonly limits: RoomLimits;
  /** How long the log of a recorded room is kept after its end. */
  readonly retentionMs: number;
  /** Six digits may be codes, as the deployed web client wants them. */
  readonly hasDigitCodes: boolean;
  /** Wrong codes of one address in a minute. */
  readonly maxWrongCodes: number;
}

export interface RoomDeps {
  readonly clock: Clock;
  readonly ids: Pick<IdSource, 'traceId'>;
  readonly log: Log;
  readonly meter: Meter;
  readonly stores: RoomStores;
  readonly plans: PlanRunner;
  readonly settings: RoomSettings;
  /** Nodes that the tenant may use recognise it without translating it, and others translate the text into these languages. */
  readonly canRecogniseFirst: (request: PlanRequest, wanted: readonly WantedTarget[]) => boolean;
  /** Whether nodes that the tenant may use translate one language into the other. */
  readonly canTranslate: (tenantId: TenantId, source: Language, target: Language) => boolean;
  /** The speech in the result of a job. Undefined: it is not kept any more. */
  readonly voiceOf: (
    jobId: JobId,
  ) => Promise<{ readonly audio: string; readonly format: string } | undefined>;
  /** "instance/incarnation" of this process. */
  readonly self: () => string;
  /** To the instance of a follower. A message to a dead one is dropped. */
  readonly tell: (follower: string, message: RoomMessage) => Promise<unknown>;
  /** To the instance of a follower; may be lost. */
  readonly hint: (follower: string, hint: ActivityHint) => void;
}
