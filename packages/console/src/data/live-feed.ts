/** The one live connection of the page: keeps figures, nodes and attention current, and reconnects by itself. */
import type { Attention, FiguresPoint, LiveDelta, LiveInstance, LiveSnapshot } from '@lingua/protocol';
import { signal } from '@preact/signals';
import { identity, mayWatch, needsLogin, token } from './credentials.ts';
import { applyChange, type Fleet, fleetOf } from './fleet.ts';
import { readEvents } from './read-events.ts';
import { type RequestError, request, send } from './request.ts';

type Message = LiveSnapshot | LiveDelta;

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;
/** The server sends something every second. */
const SILENT_MS = 6_000;

export const figures = signal<FiguresPoint | undefined>(undefined);
/** The last measurement of each stage: in a quiet second there is none. */
export const stages = signal<FiguresPoint['stages']>({});
export const instances = signal<readonly LiveInstance[]>([]);
export const attention = signal<readonly Attention[]>([]);
export const fleet: { current: Fleet } = { current: new Map() };
/** Changes whenever the fleet does, which is changed in place. */
export const fleetVersion = signal(0);
export const isConnected = signal(false);
export const feedError = signal<RequestError | undefined>(undefined);
/** When the last message arrived, by this browser's clock; 0: none yet. */
export const receivedAt = signal(0);
/** What the server's clock is ahead of this browser's. */
export const clockAheadMs = signal(0);
/** Browser time, once a second. */
export const tick = signal(Date.now());

let columns: readonly string[] = [];
let connection: AbortController | undefined;
let retryMs = FIRST_RETRY_MS;

function take(message: Message): void {
  if ('node_columns' in message) {
    columns = message.node_columns;
    fleet.current = fleetOf(columns, message.nodes);
  } else applyChange(fleet.current, columns, message);
  fleetVersion.value += 1;
  receivedAt.value = Date.now();
  clockAheadMs.value = message.at_ms - Date.now();
  if (message.figures !== undefined) {
    figures.value = message.figures;
    stages.value = { ...stages.peek(), ...message.figures.stages };
  }
  instances.value = message.instances;
  if (message.attention !== undefined) attention.value = message.attention;
  isConnected.value = true;
  feedError.value = undefined;
  retryMs = FIRST_RETRY_MS;
}

async function follow(control: AbortController): Promise<void> {
  identity.value ??= await request('v1/whoami', { signal: control.signal });
  if (!mayWatch.peek()) return;
  const { body } = await send('api/v1/live', { signal: control.signal });
  if (body === null) return;
  await readEvents(body, ({ name, data }) => {
    if (name === 'snapshot' || name === 'delta') take(JSON.parse(data) as Message);
  });
}

async function connect(): Promise<void> {
  connection?.abort();
  const control = new AbortController();
  connection = control;
  try {
    await follow(control);
  } catch (error) {
    if (!control.signal.aborted) feedError.value = error as RequestError;
  }
  if (control !== connection) return;
  connection = undefined;
  isConnected.value = false;
  const isPointless = needsLogin.peek() !== false || (identity.peek() !== undefined && !mayWatch.peek());
  if (isPointless) return;
  setTimeout(() => void (connection === undefined && connect()), retryMs * (0.5 + Math.random() / 2));
  retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
}

/** A connection that is silent for too long may be dead without an error. */
function watch(): void {
  tick.value = Date.now();
  const isSilent = isConnected.peek() && Date.now() - receivedAt.peek() > SILENT_MS;
  if (isSilent && connection !== undefined) connection.abort();
}

export function startFeed(): void {
  setInterval(watch, 1_000);
  token.subscribe(() => void connect());
}

/** For the button that a person presses instead of waiting. */
export const reconnect = (): void => void connect();
