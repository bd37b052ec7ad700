/** Answers that are held back: long polls and event streams. Bounded, ended when the client goes away or the server closes. */
import type { FastifyReply } from 'fastify';
import type { Refusal } from '../../wire/error-answer.ts';

export interface Wait {
  readonly signal: AbortSignal;
  end(): void;
}

export interface Waits {
  /** Nothing if there are too many already. */
  begin(reply: FastifyReply): Wait | undefined;
  abortAll(): void;
  size(): number;
}

export const TOO_MANY_WAITS: Refusal = {
  code: 'RATE_LIMITED',
  detail: 'too many requests are waiting already',
  hint: 'Ask without wait_ms, or try again after retry_after_ms.',
};

export function createWaits(deps: { max: number }): Waits {
  const controllers = new Set<AbortController>();
  let isOver = false;
  return {
    begin(reply) {
      if (controllers.size >= deps.max) return undefined;
      const controller = new AbortController();
      const leave = () => {
        controllers.delete(controller);
        controller.abort();
      };
      controllers.add(controller);
      // A closing server still answers what is on its way, and holds nothing back.
      if (isOver) controller.abort();
      reply.raw.once('close', leave);
      return {
        signal: controller.signal,
        end() {
          controllers.delete(controller);
          reply.raw.off('close', leave);
        },
      };
    },
    abortAll() {
      isOver = true;
      for (const controller of controllers) controller.abort();
    },
    size: () => controllers.size,
  };
}
