/** Several instances with one session store and one job store, on a stepped clock. A killed instance writes nothing any more. */
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createIdSource } from '../../../src/adapters/system/id-source.ts';
import type { AudioStore } from '../../../src/ports/audio-store.ts';
import type { SessionStore } from '../../../src/ports/session-store.ts';
import {
  createSessionService,
  type SessionServiceDeps,
} from '../../../src/session/create-session-service.ts';
import type { SessionService } from '../../../src/session/session-service.ts';
import { NO_POOLS } from '../../../src/session/speech/preferred-pool.ts';
import { type Faulty, faulty } from '../../support/faulty.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { settled } from './scripted-dispatcher.ts';
import { createScriptedPlans, type ScriptedPlans } from './scripted-plans.ts';
import { SETTINGS } from './session-rig.ts';
import { createSharedJobs, type SharedJobs } from './shared-jobs.ts';

/** By then deliveries and acknowledgements are saved. */
export const SAVED_LATER_MS = 5_100;

export interface RunningInstance {
  readonly name: string;
  readonly owner: string;
  readonly service: SessionService;
  readonly audio: AudioStore;
  readonly plans: ScriptedPlans;
  /** Its access to the store, which may fail. */
  readonly store: Faulty<SessionStore>;
  isAlive: boolean;
}

export interface InstancesRig {
  readonly clock: ManualClock;
  readonly jobs: SharedJobs;
  readonly store: SessionStore;
  readonly counts: ReadonlyMap<string, number>;
  instance(name: string): RunningInstance;
  /** Like a power loss: nothing is saved, sent or cancelled. */
  kill(name: string): void;
  /** It does not reply to release requests any more. */
  isolate(name: string): void;
  /** Resolves when everything is done that needs no time to pass. */
  quiet(): Promise<void>;
}

export function createInstancesRig(
  options: {
    readonly names?: readonly string[];
    readonly store?: SessionStore;
    readonly settings?: Partial<SessionServiceDeps['settings']>;
    readonly isSplittable?: SessionServiceDeps['isSplittable'];
  } = {},
): InstancesRig {
  const clock = createManualClock();
  const store = options.store ?? createTestCluster({ clock }).store.sessions;
  const jobs = createSharedJobs({ clock });
  const counts = new Map<string, number>();
  const isolated = new Set<string>();
  const ids = createIdSource({ clock, digestsRequests: true });
  let underWay = 0;

  /** Counts calls in progress, and stops with its instance. */
  function wayToStore(isAlive: () => boolean): SessionStore {
    const counted =
      (name: PropertyKey) =>
      async (...args: unknown[]) => {
        if (!isAlive()) return new Promise(() => {});
        underWay += 1;
        try {
          return await (store as unknown as Record<PropertyKey, (...args: unknown[]) => unknown>)[name]?.(
            ...args,
          );
        } finally {
          underWay -= 1;
        }
      };
    return new Proxy(store, { get: (_, name) => counted(name) });
  }

  const instances = (options.names ?? ['a', 'b']).map((name): RunningInstance => {
    const audio = createAudioStore({ maxBytes: 10_000_000, maxBytesPerJob: 5_000_000 });
    const way = faulty<SessionStore>(
      wayToStore(() => instance.isAlive),
      [],
      clock,
    );
    const plans = createScriptedPlans();
    const service = createSessionService({
      clock,
      audio,
      chance: () => 0.5,
      ids,
      meter: {
        count(metric, labels, by = 1) {
          const key = [metric, ...Object.values(labels ?? {})].join(' ');
          counts.set(key, (counts.get(key) ?? 0) + by);
        },
        gauge() {},
        observe() {},
      },
      log: { debug() {}, info() {}, warn() {}, error() {} },
      jobs: jobs.dispatcher(name, (job) => service.jobMoved(job)),
      plans,
      isSplittable: options.isSplittable,
      pools: NO_POOLS,
      settings: { ...SETTINGS, ...options.settings },
      elsewhere: {
        store: way.port,
        owner: () => `${name}/1`,
        records: jobs.records,
        events: jobs.events,
        checkDriver() {},
        release(owner, sessionId) {
          const other = instances.find((each) => each.owner === owner);
          if (other === undefined || !other.isAlive || isolated.has(other.name)) return new Promise(() => {});
          return other.service.release(sessionId);
        },
      },
    });
    const instance: RunningInstance = {
      name,
      owner: `${name}/1`,
      service,
      audio,
      plans,
      store: way,
      isAlive: true,
    };
    return instance;
  });

  function instance(name: string): RunningInstance {
    const found = instances.find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no instance ${name}`);
    return found;
  }

  return {
    clock,
    jobs,
    store,
    counts,
    instance,
    kill(name) {
      const victim = instance(name);
      victim.isAlive = false;
      jobs.kill(name);
      victim.service.stop();
    },
    isolate: (name) => void isolated.add(name),
    async quiet() {
      for (let rounds = 0; rounds < 3; rounds += 1) {
        await settled();
        while (underWay > 0) await settled();
      }
    },
  };
}
