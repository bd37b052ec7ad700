/** Captions of a room as server-sent events: order, resume, end, and what a reader costs. */
import { expect, it } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { captionOf, SERVER, startRooms } from './scripted-rooms.ts';

async function startReader(search = 'lang=es', headers: Record<string, string> = {}) {
  const rooms = await startRooms();
  rooms.captions.push(captionOf(1), captionOf(2));
  const ending = new AbortController();
  const response = await fetch(`${rooms.url}/v1/rooms/abc-def/captions?${search}`, {
    headers: { ...SERVER, ...headers },
    signal: ending.signal,
  });
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let text = '';
  const until = async (part: string): Promise<string> => {
    while (!text.includes(part)) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
    }
    return text;
  };
  const rest = async (): Promise<string> => {
    for (let each = await reader.read(); !each.done; each = await reader.read()) text += each.value;
    return text;
  };
  return { ...rooms, response, until, rest, leave: () => ending.abort() };
}

const eventsIn = (text: string) =>
  text
    .trim()
    .split('\n\n')
    .map((block) => {
      const fields = Object.fromEntries(
        block
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      return { id: fields.id, event: fields.event, data: JSON.parse(fields.data ?? '{}') };
    });

it('captions come in order, a correction without an id, and the end as the last event', async () => {
  const { say, rest, response, listeners } = await startReader();
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  say({ kind: 'missed', from: 3, to: 5 });
  say({ kind: 'caption', caption: captionOf(6, { isFinal: false, isTranslated: false, text: 'hello 6' }) });
  say({ kind: 'caption', caption: captionOf(7) });
  say({ kind: 'caption', caption: captionOf(6, { revision: 1 }) });
  say({ kind: 'ended', reason: 'expired' });
  const events = eventsIn(await rest());
  expect(events.map(({ id, event, data }) => [id, event, data.room_seq, data.rev])).toEqual([
    ['1', 'caption', 1, 0],
    ['2', 'caption', 2, 0],
    [undefined, 'missed', undefined, undefined],
    ['6', 'caption', 6, 0],
    ['7', 'caption', 7, 0],
    [undefined, 'caption', 6, 1],
    ['end', 'ended', undefined, undefined],
  ]);
  expect(events[0]?.data).toMatchObject({
    speaker_name: 'Ana',
    text: 'hola 1',
    source: 'hello 1',
    final: true,
  });
  expect(events[3]?.data).toMatchObject({ text: 'hello 6', text_lang: 'en', lang: 'es', final: false });
  expect(events[3]?.data).not.toHaveProperty('source');
  await eventually(() => listeners.size === 0 || undefined);
});

it('Last-Event-ID continues where the reader was, and stops one whose room has ended', async () => {
  const { calls } = await startReader('lang=es&after_seq=3', { 'last-event-id': '5' });
  expect(calls).toMatchObject([['captions', { roomId: 'room-1', language: 'es', afterSeq: 5 }]]);
  const { get, calls: ended } = await startRooms();
  const answer = await get('/v1/rooms/abc-def/captions?lang=es', { ...SERVER, 'last-event-id': 'end' });
  expect(answer.status).toBe(204);
  expect(ended).toEqual([]);
});

it('a reader counts as a waiting stream until it leaves', async () => {
  const { until, leave, server, listeners } = await startReader();
  await until('hola 2');
  expect(server.waits('stream')).toBe(1);
  expect(listeners.size).toBe(1);
  leave();
  await eventually(() => (server.waits('stream') === 0 && listeners.size === 0) || undefined);
});

it('the reader of a fenced instance is sent away without the last event', async () => {
  const { say, rest } = await startReader();
  say({ kind: 'ended', reason: 'fenced' });
  expect(await rest()).not.toContain('ended');
});

it('a reader that does not read is disconnected', async () => {
  const { say, listeners } = await startReader();
  const text = 'x'.repeat(60_000);
  for (let seq = 3; listeners.size > 0 && seq < 1_000; seq += 1)
    say({ kind: 'caption', caption: captionOf(seq, { text }) });
  await eventually(() => listeners.size === 0 || undefined);
});

it('a refused language costs no stream', async () => {
  const { response, server } = await startReader('lang=xx');
  expect(response.status).toBe(503);
  expect(server.waits('stream')).toBe(0);
});
