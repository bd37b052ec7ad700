/** Requests that wait: long polls and event streams. Bounded; each ends when its client leaves or the server closes. */
import type { FastifyReply } from 'fastify';
import type { Refusal } from '../../wire/error-reply.ts';

export interface Wait {
  readonly signal: AbortSignal;
  end(): void;
}

export interface Waits {
  /** Undefined: there are too many. */
  begin(reply: FastifyReply): Wait | undefined;
  abortAll(): void;
  size(): number;
}

export const TOO_MANY_WAITS: Refusal = {
  code: 'RATE_LIMITED',
  detail: 'too many requests are waiting already',
  hint: 'Omit wait_ms, or try again after retry_after_ms.',
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
      // A closing server still answers running requests, but does not let them wait.
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
