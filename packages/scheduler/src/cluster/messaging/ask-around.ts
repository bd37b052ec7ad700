/**
 * Hot path: who drives a job of which this instance has heard nothing. The others are asked directly, which costs the store nothing: one
 * of them drives it, usually. Where nobody says so, the store knows.
 */
import type { JobId } from '../../domain/ids.ts';
import type { Instance } from '../../ports/instances.ts';
import type { DriverCache } from '../holder/driver-cache.ts';
import type { MessageBus } from './message-bus.ts';
import { readMessage } from './read-message.ts';

/** "instance/incarnation". Undefined: nobody says so, or there are too many to be asked. Never rejects. */
export type AskAround = (jobId: JobId) => Promise<string | undefined>;

const TOPIC = 'drives';
const QUESTION = { jobId: 'string' } as const;
/** A third of it for a direct answer: somebody waits, and the store can be asked instead. */
const LIMIT_MS = 900;
/** Beyond that one command costs less than asking them all. */
const MOST_ASKED = 8;

export function createAskAround(deps: {
  bus: Pick<MessageBus, 'ask' | 'on'>;
  self: () => { readonly instanceId: string };
  living: () => Promise<ReadonlyMap<string, Instance>>;
  drives: (jobId: JobId) => boolean;
  /** "instance/incarnation" of this one. */
  driver: () => string;
  driverCache: Pick<DriverCache, 'note'>;
}): AskAround {
  const { bus, driverCache } = deps;
  bus.on(TOPIC, async (body) =>
    deps.drives(readMessage<{ jobId: JobId }>(TOPIC, body, QUESTION).jobId) ? deps.driver() : undefined,
  );

  const ask = (instanceId: string, jobId: JobId): Promise<unknown> =>
    bus
      .ask(instanceId, { topic: TOPIC, lane: jobId, body: { jobId }, isDirect: 'only' }, LIMIT_MS)
      .catch(() => undefined);

  /** Whoever says so first: the others are not waited for. */
  const firstOf = (others: readonly string[], jobId: JobId): Promise<string | undefined> =>
    new Promise((resolve) => {
      let open = others.length;
      for (const instanceId of others)
        void ask(instanceId, jobId).then((answer) => {
          open -= 1;
          if (typeof answer === 'string') resolve(answer);
          else if (open === 0) resolve(undefined);
        });
    });

  return async function askAround(jobId) {
    const living = await deps.living().catch(() => NOBODY);
    const others = [...living.keys()].filter((instanceId) => instanceId !== deps.self().instanceId);
    if (others.length === 0 || others.length > MOST_ASKED) return undefined;
    const driver = await firstOf(others, jobId);
    // The node's next word on it may come here, too.
    if (driver !== undefined) driverCache.note(jobId, driver);
    return driver;
  };
}

const NOBODY: ReadonlyMap<string, Instance> = new Map();
