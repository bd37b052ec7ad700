/** Reads server-sent events from a response. EventSource could not send the token in a header. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** The events of the text so far, and the rest that is not complete yet. */
export function splitEvents(text: string): {
  readonly events: readonly ServerEvent[];
  readonly rest: string;
} {
  const blocks = text.split(/\r?\n\r?\n/);
  const rest = blocks.pop() ?? '';
  return { events: blocks.flatMap(toEvent), rest };
}

function toEvent(block: string): ServerEvent[] {
  let name = 'message';
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  return data.length === 0 ? [] : [{ name, data: data.join('\n') }];
}

export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: ServerEvent) => void,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let kept = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const { events, rest } = splitEvents(kept + decoder.decode(value, { stream: true }));
    kept = rest;
    for (const event of events) onEvent(event);
  }
}
