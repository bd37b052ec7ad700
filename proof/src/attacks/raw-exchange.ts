/** Bytes to a server as they are, and everything that it sends back: for requests that no HTTP client would send. */
import { connect } from 'node:net';

export interface Exchange {
  /** The statuses of all answers, in their order. */
  readonly statuses: readonly number[];
  readonly text: string;
  /** The server closed the connection. */
  readonly isClosed: boolean;
}

const MAX_KEPT = 1_000_000;

/** Resolves when the server closes the connection, or has sent nothing for `quietMs`. */
export function exchange(port: number, bytes: string | Buffer, quietMs = 400): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let timer: NodeJS.Timeout | undefined;
    const end = (isClosed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      const statuses = [...text.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)].map(([, status]) => Number(status));
      resolve({ statuses, text, isClosed });
    };
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => end(false), quietMs);
    };
    socket.on('data', (chunk) => {
      if (text.length < MAX_KEPT) text += chunk.toString('latin1');
      wait();
    });
    socket.once('close', () => end(true));
    socket.on('error', () => end(true));
    socket.once('connect', () => {
      socket.write(bytes);
      wait();
    });
  });
}
