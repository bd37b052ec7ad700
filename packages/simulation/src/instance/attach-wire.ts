/** Simulation: a connection of the simulated network as an instance uses it: messages in order, and a function to reply. */
import type { Problem } from '@lingua/protocol';
import { SchedulerError } from '../../../scheduler/dist/domain/errors.js';
import type { Log } from '../../../scheduler/dist/ports/log.js';
import { CLOSE_CODES } from '../../../scheduler/dist/transport/ws/close-reasons.js';
import { errorText } from '../../../scheduler/dist/transport/ws/error-message.js';
import type { GuardedSocket, SocketHandler } from '../../../scheduler/dist/transport/ws/guarded-socket.js';
import { createTaskQueue } from '../../../scheduler/dist/transport/ws/task-queue.js';
import type { WireEnd } from '../net/wire.ts';

/** No client floods in a simulation: the limits of real sockets have their own tests. */
const ANY = Number.POSITIVE_INFINITY;

export function attachWire(
  end: WireEnd,
  log: Log,
  open: (socket: GuardedSocket) => SocketHandler,
): { cut: GuardedSocket['cut'] } {
  const socket: GuardedSocket = {
    send: end.send,
    sendError(code, message, details) {
      if (handler.maySendError?.() !== false) end.send(errorText(code, message, details));
    },
    reject: ({ path, message }: Problem) => socket.sendError('INVALID_MESSAGE', message, { path }),
    noteInvalid() {},
    unsentBytes: () => 0,
    cut(reason) {
      if (!end.isOpen()) return;
      end.close(CLOSE_CODES[reason], reason);
      closed();
    },
  };
  const queue = createTaskQueue({
    maxWaiting: ANY,
    maxWeight: ANY,
    full() {},
    eased() {},
    failed(fault) {
      log.error({ err: fault }, 'a message could not be handled');
      if (fault instanceof SchedulerError) socket.sendError(fault.code, fault.message);
    },
  });
  let isGone = false;

  function closed(): void {
    if (isGone) return;
    isGone = true;
    handler.left();
    queue.push(() => handler.ended(), 0);
  }

  const handler = open(socket);
  end.listen({
    text(text) {
      queue.push(() => handler.receive(text), 0);
    },
    closed,
  });
  return { cut: socket.cut };
}
