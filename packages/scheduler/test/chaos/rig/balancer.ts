/** A tiny TCP balancer: every connection goes to the first backend that takes it, and can be cut. It does not know who is frozen. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createFrameReader } from './socket-frames.ts';

export interface Backend {
  readonly instance: string;
  readonly port: number;
}

export interface Balancer {
  readonly port: number;
  /** Breaks every connection there is. */
  cut(): void;
  close(): void;
}

export interface BalancerOptions {
  /** Whom to try, best first; asked for every connection. */
  readonly backends: () => readonly Backend[];
  /** Messages of WebSockets on their way to the client, before the client has them. */
  readonly onText?: (text: string, instance: string) => void;
}

const HOST = '127.0.0.1';

export async function createBalancer({ backends, onText }: BalancerOptions): Promise<Balancer> {
  const open = new Set<Socket>();
  let isClosed = false;

  async function join(near: Socket): Promise<void> {
    for (const backend of backends()) {
      const far = await reach(backend.port);
      if (far === undefined) continue;
      if (near.destroyed) far.destroy();
      else splice(near, far, backend.instance);
      return;
    }
    near.destroy();
  }

  function splice(near: Socket, far: Socket, instance: string): void {
    if (onText !== undefined)
      far.on(
        'data',
        createFrameReader((text) => onText(text, instance)),
      );
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', (hadError) => {
        open.delete(from);
        // What was read before is still to be written.
        if (hadError) to.destroy();
        else to.end();
      });
      from.pipe(to);
    }
  }

  const server = createServer({ pauseOnConnect: true, noDelay: true }, (near) => {
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
    close() {
      isClosed = true;
      cut();
      server.close();
    },
  };
}

function reach(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST, noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

/** Every call begins with another one. */
export function takeTurns<Each>(all: () => readonly Each[]): () => readonly Each[] {
  let turn = 0;
  return () => {
    const each = all();
    const first = turn++ % Math.max(1, each.length);
    return [...each.slice(first), ...each.slice(0, first)];
  };
}

/** Home first, as somebody who lives near it; the others if it is gone. */
export function liveNear<Each extends Backend>(
  home: number,
  all: () => readonly Each[],
): () => readonly Each[] {
  return () => {
    const each = all();
    const first = home % Math.max(1, each.length);
    return [...each.slice(first), ...each.slice(0, first)];
  };
}
