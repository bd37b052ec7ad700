/**
 * A proxy between nodes and the scheduler that counts, per node, the jobs in progress and the refusals for lack of a
 * slot.
 */
import type { AddressInfo } from 'node:net';
import WebSocket, { WebSocketServer } from 'ws';

export interface Traffic {
  /** The highest number of unanswered jobs at once. */
  most: number;
  /** Jobs for which the node itself had no slot. */
  overflows: number;
  readonly underWay: Set<string>;
}

export interface TappedWire {
  readonly url: string;
  /** By node id, summed over the node's connections. */
  readonly traffic: ReadonlyMap<string, Traffic>;
  close(): void;
}

/** The text of nodes that only simulate a refusal. */
const SIMULATED = 'a simulated refusal';

interface Frame {
  readonly type: string;
  readonly node_id?: string;
  readonly job_id?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export async function createTappedWire(target: string): Promise<TappedWire> {
  const traffic = new Map<string, Traffic>();
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));

  function of(nodeId: string): Traffic {
    const known = traffic.get(nodeId) ?? { most: 0, overflows: 0, underWay: new Set<string>() };
    traffic.set(nodeId, known);
    return known;
  }

  function watch(frame: Frame, nodeId: string): void {
    const { most, underWay } = of(nodeId);
    if (frame.type === 'job_assign') underWay.add(frame.job_id ?? '');
    if (frame.type === 'job_result') underWay.delete(frame.job_id ?? '');
    const { code, message } = frame.error ?? {};
    if (code === 'NODE_OVERLOADED' && message !== SIMULATED) of(nodeId).overflows += 1;
    of(nodeId).most = Math.max(most, underWay.size);
  }

  server.on('connection', (near) => {
    const far = new WebSocket(target);
    const waiting: string[] = [];
    let nodeId = '';
    near.on('message', (data) => {
      const text = data.toString();
      watch(JSON.parse(text) as Frame, nodeId);
      if (far.readyState === WebSocket.OPEN) far.send(text);
      else waiting.push(text);
    });
    far.on('open', () => {
      for (const text of waiting.splice(0)) far.send(text);
    });
    far.on('message', (data) => {
      const frame = JSON.parse(data.toString()) as Frame;
      if (frame.type === 'node_register_ack') nodeId = frame.node_id ?? '';
      watch(frame, nodeId);
      near.send(data.toString());
    });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('ping', (data) => to.readyState === WebSocket.OPEN && to.ping(data));
      from.on('error', () => to.terminate());
      from.on('close', () => {
        to.terminate();
        // A dead process no longer has its jobs.
        of(nodeId).underWay.clear();
      });
    }
  });

  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws/node`,
    traffic,
    close() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}
