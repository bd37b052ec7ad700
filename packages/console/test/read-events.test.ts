/** Server-sent events, however the network cuts them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readEvents, type ServerEvent } from '../src/data/read-events.ts';

const TEXT =
  ': hello\n\nid: 1\nevent: snapshot\ndata: {"a":1}\n\nevent: delta\r\ndata: {"b":\r\ndata: 2}\r\n\r\nevent: cut\ndata: x';

it('events are the same however the bytes are cut', async () => {
  const bytes = new TextEncoder().encode(TEXT);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: bytes.length }), { maxLength: 8 }), async (cuts) => {
      const at = [...cuts].sort((a, b) => a - b);
      const stream = new ReadableStream<Uint8Array>({
        start(sink) {
          for (const [index, start] of [0, ...at].entries())
            sink.enqueue(bytes.slice(start, at[index] ?? bytes.length));
          sink.close();
        },
      });
      const events: ServerEvent[] = [];
      await readEvents(stream, (event) => events.push(event));
      expect(events).toEqual([
        { name: 'snapshot', data: '{"a":1}' },
        { name: 'delta', data: '{"b":\n2}' },
      ]);
    }),
  );
});
