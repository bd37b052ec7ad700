/**
 * A tiny TCP proxy: every connection goes to the first backend that accepts it, and can be cut, slowed down or held. It does not
 * know which backend is frozen.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { cleared, createRelay, createSky } from './relay.ts';
import { createFrameReader } from './socket-frames.ts';

export interface Backend {
  readonly instance: string;
  readonly port: number;
}

export interface Balancer {
  readonly port: number;
  /** Breaks all connections. */
  cut(): void;
  /**
   * Everything sent in either direction arrives this much later; Infinity: not before the next call. No side is notified, as where
   * packets are lost.
   */
  delay(ms: number): void;
  close(): void;
}

export interface BalancerOptions {
  /** Which backends to try, best first; called for every connection. */
  readonly backends: () => readonly Backend[];
  /** Messages of WebSockets to the client, before the client has them. */
  readonly onText?: (text: string, instance: string) => void;
}

const HOST = '127.0.0.1';

export async function createBalancer({ backends, onText }: BalancerOptions): Promise<Balancer> {
  const open = new Set<Socket>();
  const sky = createSky();
  let isClosed = false;

  async function join(near: Socket): Promise<void> {
    open.add(near);
    near.once('close', () => open.delete(near));
    await cleared(sky);
    for (const backend of backends()) {
      if (near.destroyed) return;
      const far = await reach(backend.port);
      if (far === undefined) continue;
      if (near.destroyed) far.destroy();
      else splice(near, far, backend.instance);
      return;
    }
    near.destroy();
  }

  function splice(near: Socket, far: Socket, instance: string): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      const relay = createRelay(sky);
      if (from === far && onText !== undefined) {
        const read = createFrameReader((text) => onText(text, instance));
        relay.on('data', read);
      }
      from.on('error', () => to.destroy());
      from.on('close', (hadError) => {
        open.delete(from);
        // What was read before must still be written.
        if (hadError) to.destroy();
        else relay.end();
      });
      to.on('close', () => relay.destroy());
      from.pipe(relay).pipe(to);
    }
  }

  const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, (near) => {
    near.on('error', () => {});
    if (isClosed) near.destroy();
    else void join(near);
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    delay: sky.set,
    close() {
      isClosed = true;
      // A side that waits for the delay notices that the other side has closed.
      cut();
      sky.set(0);
      server.close();
    },
  };
}

function reach(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST, noDelay: true, allowHalfOpen: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

/** Every call begins with another backend. */
export function takeTurns<Each>(all: () => readonly Each[]): () => readonly Each[] {
  let turn = 0;
  return () => {
    const each = all();
    return turned(each, turn++);
  };
}

/** The near backend first; the others if it does not accept. */
export const liveNear =
  <Each>(home: number, all: () => readonly Each[]): (() => readonly Each[]) =>
  () =>
    turned(all(), home);

function turned<Each>(all: readonly Each[], by: number): readonly Each[] {
  const first = by % Math.max(1, all.length);
  return [...all.slice(first), ...all.slice(0, first)];
}
