/** A receiver of webhooks: a real HTTP server that checks signatures by the code in docs/webhooks.md. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { validator, WebhookEvent } from '@lingua/protocol';
import { expect, onTestFinished } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { eventually } from '../support/eventually.ts';

export const SECRET = 'a-secret-of-the-test-with-32-characters';

const isEvent = validator(WebhookEvent);

type IsGenuine = (secret: string, headers: IncomingHttpHeaders, body: Buffer) => boolean;

async function documentedCheck(): Promise<IsGenuine> {
  const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
  const [, code = ''] = /```js\n(.*?)```/s.exec(page) ?? [];
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return isGenuine;
}

export interface Received {
  readonly event: WebhookEvent;
  readonly isGenuine: boolean;
  readonly headers: IncomingHttpHeaders;
}

/** Answers with the given statuses, then with 204. */
export async function startReceiver(options: { secret?: string; statuses?: number[] } = {}) {
  const { secret = SECRET, statuses = [] } = options;
  const isGenuine = await documentedCheck();
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const { headers } = request;
    const event: WebhookEvent = JSON.parse(body.toString());
    received.push({ event, isGenuine: isGenuine(secret, headers, body), headers });
    response.writeHead(statuses.shift() ?? 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    isGenuine,
    /** The first events, once so many have come. */
    async events(count: number): Promise<readonly WebhookEvent[]> {
      await eventually(() => received.length >= count || undefined);
      const events = received.map(({ event }) => event);
      for (const event of events) expect(isEvent(event)).toEqual({ ok: true, value: event });
      return events;
    },
  };
}

/** A row of `webhooks.receivers`. */
export const receiverRow = (url: string, ...lines: string[]): string =>
  ['[[webhooks.receivers]]', `url = "${url}"`, `secret = "${SECRET}"`, ...lines, ''].join('\n');

export const LOCAL = '[server]\nendpoint_networks = ["127.0.0.0/8"]\n';
