/** The one live connection of the page: keeps figures, nodes and attention current, and reconnects by itself. */
import { signal } from '@preact/signals';
import { identity, mayWatch, needsLogin, token } from './credentials.ts';
import { applyChange, type Fleet, type FleetChange, fleetOf, type NodeRow } from './fleet.ts';
import { readEvents } from './read-events.ts';
import { type RequestError, request, send } from './request.ts';

export interface StageFigures {
  readonly count: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

export interface Figures {
  readonly at_ms: number;
  readonly span_ms: number;
  readonly admitted: number;
  readonly finished: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly retries: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly in_flight: number;
  readonly waiting: number;
  readonly oldest_wait_ms?: number;
  readonly sessions: number;
  readonly connected: number;
  readonly stages: Readonly<Record<string, StageFigures>>;
}

export interface Attention {
  readonly id: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly text: string;
  readonly params?: Readonly<Record<string, string | number>>;
  readonly runbook?: string;
  readonly page?: string;
  readonly target?: string;
}

export interface LiveInstance {
  readonly instance_id: string;
  readonly age_ms: number;
  readonly version?: string;
  readonly jobs_in_flight?: number;
  readonly jobs_waiting?: number;
  readonly sessions?: number;
  readonly nodes?: number;
}

interface Message extends FleetChange {
  readonly at_ms: number;
  readonly instance_id?: string;
  readonly instances: readonly LiveInstance[];
  readonly figures: Figures;
  readonly node_columns?: readonly string[];
  readonly nodes?: readonly NodeRow[];
  readonly attention?: readonly Attention[];
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;
/** The server sends something every second. */
const SILENT_MS = 6_000;

export const figures = signal<Figures | undefined>(undefined);
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

function take(name: string, message: Message): void {
  if (name === 'snapshot') {
    columns = message.node_columns ?? [];
    fleet.current = fleetOf(columns, message.nodes ?? []);
  } else applyChange(fleet.current, columns, message);
  fleetVersion.value += 1;
  receivedAt.value = Date.now();
  clockAheadMs.value = message.at_ms - Date.now();
  figures.value = message.figures;
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
    if (name === 'snapshot' || name === 'delta') take(name, JSON.parse(data) as Message);
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
