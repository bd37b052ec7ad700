/** Reads the live feed of the console over HTTP. */
import type { LiveDelta, LiveSnapshot } from '@lingua/protocol';
import { onTestFinished } from 'vitest';

export interface LiveEvent {
  readonly event: 'snapshot' | 'delta';
  readonly data: LiveSnapshot & LiveDelta;
}

/** Ends with the test. `next` returns the first further event that passes. */
export async function watchLive(url: string, headers: Record<string, string> = {}) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await fetch(`${url}/api/v1/live`, { headers, signal: leaving.signal });
  const events = eventsOf(response);
  return {
    status: response.status,
    headers: response.headers,
    leave: () => leaving.abort(),
    async next(isMeant: (event: LiveEvent) => boolean = () => true): Promise<LiveEvent> {
      for (;;) {
        const { value, done } = await events.next();
        if (done === true) throw new Error('the live feed ended');
        if (isMeant(value)) return value;
      }
    },
  };
}

async function* eventsOf({ body }: Response): AsyncGenerator<LiveEvent, void> {
  if (body === null) return;
  let text = '';
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const whole = text.split('\n\n');
    text = whole.pop() ?? '';
    for (const event of whole) {
      const [, name = '', data = ''] = event.split('\n');
      yield { event: name.slice(7) as LiveEvent['event'], data: JSON.parse(data.slice(6)) };
    }
  }
}
