/** A ModelHub that answers, refuses or stays silent, as the test sets it. Stopped with the test. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type HubMood = 'answers' | 'fails' | 'is silent' | 'talks nonsense';

export interface ModelHub {
  readonly url: string;
  mood: HubMood;
  services: readonly string[];
  /** Received requests. */
  asked: number;
}

export async function startModelHub(services: readonly string[] = ['asr-1', 'nmt-1']): Promise<ModelHub> {
  const server = createServer((request, response) => {
    if (request.url !== '/api/services') return void response.writeHead(404).end();
    hub.asked += 1;
    answer(response);
  });
  const answer = (response: ServerResponse): void => {
    const entries = hub.services.map((service_id) => ({ service_id, name: service_id, latest_version: '1' }));
    if (hub.mood === 'answers') response.end(JSON.stringify({ services: entries }));
    if (hub.mood === 'fails') response.writeHead(500).end();
    if (hub.mood === 'talks nonsense') response.end('{"services":');
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const hub: ModelHub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mood: 'answers',
    services,
    asked: 0,
  };
  return hub;
}
