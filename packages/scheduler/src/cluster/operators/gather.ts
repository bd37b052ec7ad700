/** Cold path: the same question to every instance, this one included. It names the instances that answered and those that did not. */
import type { MessageBus } from '../messaging/message-bus.ts';
import type { AskInstances } from './ask-instances.ts';

export interface Gathered<Part> {
  /** By instance; this one first. */
  readonly parts: ReadonlyMap<string, Part>;
  readonly unreachable: readonly string[];
}

/** `readHere` answers for this instance. Parts of others are JSON values that passed through a message. */
export type Gather = <Body, Part>(
  topic: string,
  readHere: (body: Body) => Promise<Part>,
) => (body: Body) => Promise<Gathered<Part>>;

export function createGather(deps: {
  bus: Pick<MessageBus, 'on'>;
  ask: AskInstances;
  self: () => { readonly instanceId: string };
}): Gather {
  return function gather<Body, Part>(topic: string, readHere: (body: Body) => Promise<Part>) {
    deps.bus.on(topic, (body) => readHere(body as Body));
    return async (body: Body) => {
      const [own, { answers, unreachable }] = await Promise.all([
        readHere(body),
        deps.ask(topic, topic, body),
      ]);
      const parts = new Map<string, Part>([[deps.self().instanceId, own]]);
      for (const [instanceId, part] of answers) parts.set(instanceId, part as Part);
      return { parts, unreachable };
    };
  };
}

/** For a single instance. */
export const gatherHere =
  (instanceId: string): Gather =>
  (_topic, readHere) =>
  async (body) => ({ parts: new Map([[instanceId, await readHere(body)]]), unreachable: [] });
