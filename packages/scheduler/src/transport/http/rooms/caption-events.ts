/** Streams the captions of one room and language as server-sent events. Bounded in unread bytes; ends with the room. */
import { Readable } from 'node:stream';
import type { CaptionEvent, RoomResult, RoomService } from '../../../session/rooms/room-service.ts';
import { viewCaption } from '../../wire/room-view.ts';
import type { HttpServices } from '../server/http-services.ts';

/** The id of the event that the room has ended. */
export const LAST_EVENT_ID = 'end';

const MAX_UNREAD_BYTES = 1024 * 1024;

type Order = Parameters<RoomService['captions']>[0];

export async function openCaptionEvents(
  { clock, settings }: Pick<HttpServices, 'clock' | 'settings'>,
  rooms: Pick<RoomService, 'captions'>,
  order: Order,
  signal: AbortSignal,
): Promise<RoomResult<{ readonly events: Readable }>> {
  const stream = new Readable({ read: () => {} });

  function write(text: string): void {
    // A reader that is too slow is disconnected, and comes back with the last event that it got.
    if (stream.readableLength > MAX_UNREAD_BYTES) stream.destroy();
    else if (!stream.destroyed && !stream.readableEnded) stream.push(text);
  }

  function send(event: CaptionEvent): void {
    switch (event.kind) {
      case 'caption': {
        const { caption } = event;
        // A correction is not the last caption: a reader that reconnects after it still has all later ones.
        const id = caption.revision === 0 ? `id: ${caption.seq}\n` : '';
        write(`${id}event: caption\ndata: ${JSON.stringify(viewCaption(caption))}\n\n`);
        break;
      }
      case 'missed':
        write(`event: missed\ndata: ${JSON.stringify({ from: event.from, to: event.to })}\n\n`);
        break;
      case 'ended':
        // The reader of a fenced instance reconnects, to another one.
        if (event.reason !== 'fenced')
          write(`id: ${LAST_EVENT_ID}\nevent: ended\ndata: ${JSON.stringify({ reason: event.reason })}\n\n`);
        end();
    }
  }

  let isEnded = false;
  function end(): void {
    if (isEnded) return;
    isEnded = true;
    if (!stream.destroyed) stream.push(null);
  }

  const listening = await rooms.captions(order, (event) => {
    if (!isEnded) send(event);
  });
  if (listening.kind === 'refused') {
    stream.destroy();
    return listening;
  }
  const beat = () => {
    write(': still here\n\n');
    cancelBeat = clock.after(settings.eventHeartbeatMs, beat);
  };
  let cancelBeat = clock.after(settings.eventHeartbeatMs, beat);
  signal.addEventListener('abort', end, { once: true });
  stream.once('close', () => {
    listening.stop();
    cancelBeat();
    signal.removeEventListener('abort', end);
  });
  if (signal.aborted) end();
  return { kind: 'done', events: stream };
}
