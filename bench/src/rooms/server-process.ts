/**
 * Runs in its own process. Arguments: `scheduler` and its settings, or `relay`: a bare ws server that sends each frame of its sender to all
 * listeners of a language. Sends its parent the port, and its memory on request.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { createApp } from '../../../packages/scheduler/dist/app/create-app.js';
import { benchConfig } from '../embedded-engine.ts';
import { QUIET } from '../engine.ts';
import { collectGarbage } from '../measure.ts';
import { startSharedApp } from '../redis/app-contestant.ts';

const LIMITS = [
  'server.port=0',
  'server.limits.messages_per_second=100000',
  'server.limits.messages_burst=100000',
  'server.limits.max_connections=20000',
  'server.limits.max_connections_per_tenant=20000',
  'server.limits.max_connections_per_address=20000',
  'session.max_sessions=20000',
  'rooms.max_members=20000',
  'rooms.max_per_tenant=20000',
];

async function startScheduler(settings: readonly string[]): Promise<number> {
  const flags = [...LIMITS, ...settings];
  if (settings.length > 0) return (await startSharedApp(flags)).port;
  const { port } = await createApp({ config: benchConfig(flags), log: QUIET }).start();
  return port;
}

/** A listener's first frame is its language; a sender's frames are a language, a line break, and the frame. */
async function startRelay(): Promise<number> {
  const http = createServer();
  const listeners = new Map<string, WebSocket[]>();
  new WebSocketServer({ server: http, perMessageDeflate: false }).on('connection', (ws) => {
    ws.on('message', (data: Buffer) => {
      const end = data.indexOf('\n');
      const language = data.toString('latin1', 0, end < 0 ? data.length : end);
      const all = listeners.get(language) ?? [];
      listeners.set(language, all);
      if (end < 0) {
        all.push(ws);
        ws.send('{}');
        return;
      }
      const frame = data.subarray(end + 1);
      for (const one of all) one.send(frame, { binary: false });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return (http.address() as AddressInfo).port;
}

const [kind, ...settings] = process.argv.slice(2);
const port = kind === 'relay' ? await startRelay() : await startScheduler(settings);

process.on('message', () => {
  void collectGarbage().then(() => process.send?.({ rssBytes: process.memoryUsage.rss() }));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port });
