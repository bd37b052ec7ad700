/** What is said in rooms: captions as server-sent events, and the transcript. */
import {
  type CaptionsQuery,
  LARGEST_TRANSCRIPT_PAGE,
  type RoomPath,
  type TranscriptQuery,
  type TranscriptReply,
} from '@lingua/protocol';
import { foldLanguage } from '../../../domain/language.ts';
import type { Caption, RoomService } from '../../../session/rooms/room-service.ts';
import { languageRefusal } from '../../access/token-scope.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { viewCaption } from '../../wire/room-view.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { callerOf, type Waits } from '../server/waits.ts';
import { LAST_EVENT_ID, openCaptionEvents } from './caption-events.ts';
import { guesserAt, idOfRoom, refusalOfRoom, whoseRoom } from './room-request.ts';
import { printTranscript } from './transcript-view.ts';

export function addCaptionRoutes(
  routes: Routes,
  services: HttpServices,
  rooms: RoomService,
  waits: Waits,
): void {
  const { gate } = services;

  routes.add<{ Params: RoomPath; Querystring: CaptionsQuery }>(
    'GET',
    '/v1/rooms/:id/captions',
    { isForGuests: true, hasQueryToken: true },
    async (request, reply) => {
      const { params, query, headers, principal } = request;
      const whose = whoseRoom(gate, principal, query.tenant_id, false);
      if (whose.kind === 'refused') return replyError(reply, whose.refusal);
      const beyond = languageRefusal(principal.scope, { tgt_lang: query.lang });
      if (beyond !== undefined)
        return replyError(reply, { code: 'FORBIDDEN', detail: beyond.message, field: '/lang' });
      const lastId = headers['last-event-id'];
      // A browser's EventSource reconnects when a stream ends; only 204 stops it.
      if (lastId === LAST_EVENT_ID) return reply.code(204).send();
      const { tenantId } = whose;
      const found = await rooms.find(tenantId, params.id, guesserAt(gate, request));
      if (found.kind === 'refused') return replyError(reply, refusalOfRoom(found));
      const begun = waits.begin('stream', callerOf(principal, tenantId), reply);
      if (begun.kind === 'refused') return replyError(reply, begun.refusal);
      const { wait } = begun;
      const order = {
        tenantId,
        roomId: found.room.roomId,
        language: foldLanguage(query.lang),
        afterSeq: seqIn(lastId) ?? query.after_seq,
      };
      const opened = await openCaptionEvents(services, rooms, order, wait.signal).catch((fault: unknown) => {
        wait.end();
        throw fault;
      });
      if (opened.kind === 'refused') {
        wait.end();
        return replyError(reply, refusalOfRoom(opened));
      }
      const { events } = opened;
      events.once('close', wait.end);
      // The client has left, so no reader would end the stream.
      if (reply.raw.destroyed) events.destroy();
      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('x-accel-buffering', 'no')
        .send(events);
    },
  );

  routes.add<{ Params: RoomPath; Querystring: TranscriptQuery }>(
    'GET',
    '/v1/rooms/:id/transcript',
    {},
    async ({ params, query, principal }, reply) => {
      const whose = whoseRoom(gate, principal, query.tenant_id, true);
      if (whose.kind === 'refused') return replyError(reply, whose.refusal);
      const { tenantId } = whose;
      const language = foldLanguage(query.lang);
      const { format = 'json', limit, origin_ms: origin } = query;
      const roomId = await idOfRoom(rooms, tenantId, params.id);
      const read = (afterSeq: number) =>
        rooms.transcript({
          tenantId,
          roomId,
          language,
          afterSeq,
          limit: limit ?? LARGEST_TRANSCRIPT_PAGE,
        });
      let page = await read(query.after_seq ?? 0);
      if (page.kind === 'refused') return replyError(reply, refusalOfRoom(page));
      if (format === 'json')
        return omitUndefined({
          captions: page.captions.map(viewCaption),
          next_seq: page.nextSeq,
          first_seq: page.firstSeq,
        }) satisfies TranscriptReply;
      const captions: Caption[] = [...page.captions];
      // The log is bounded, so its pages are.
      while (limit === undefined && page.nextSeq !== undefined) {
        page = await read(page.nextSeq);
        if (page.kind === 'refused') return replyError(reply, refusalOfRoom(page));
        captions.push(...page.captions);
      }
      const { type, text } = printTranscript(format, captions, origin);
      return reply.header('content-type', `${type}; charset=utf-8`).send(text);
    },
  );
}

/** Undefined: the header is not one of ours. */
function seqIn(lastId: string | string[] | undefined): number | undefined {
  return typeof lastId === 'string' && /^\d{1,15}$/.test(lastId) ? Number(lastId) : undefined;
}
