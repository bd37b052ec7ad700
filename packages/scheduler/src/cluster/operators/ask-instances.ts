/** Cold path: asks every other living instance, for an operator. An instance that does not answer in time is named, not hidden. */
import type { Instance } from '../../ports/instances.ts';
import type { MessageBus } from '../messaging/message-bus.ts';

export interface Answers {
  /** By instance. */
  readonly answers: ReadonlyMap<string, unknown>;
  /** Instances that did not answer. */
  readonly unreachable: readonly string[];
}

export type AskInstances = (topic: string, lane: string, body: unknown) => Promise<Answers>;

/** I11: further instances are not asked, and are named as unreachable. */
const MAX_ASKED = 500;

export function createAskInstances(deps: {
  bus: Pick<MessageBus, 'request'>;
  self: () => { readonly instanceId: string };
  living: () => Promise<ReadonlyMap<string, Instance>>;
  answerMs: number;
}): AskInstances {
  return async (topic, lane, body) => {
    const { instanceId: own } = deps.self();
    const others = [...(await deps.living()).keys()].filter((instanceId) => instanceId !== own).sort();
    const unreachable = others.splice(MAX_ASKED);
    const answers = new Map<string, unknown>();
    const ask = async (instanceId: string): Promise<void> => {
      try {
        answers.set(instanceId, await deps.bus.request(instanceId, { topic, lane, body }, deps.answerMs));
      } catch {
        unreachable.push(instanceId);
      }
    };
    await Promise.all(others.map(ask));
    return { answers, unreachable: unreachable.sort() };
  };
}
