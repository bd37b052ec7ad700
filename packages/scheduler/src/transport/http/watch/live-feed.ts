/**
 * Cold path: the live feed of the console. Each event is printed once for all viewers. A viewer whose last event is not drained gets none,
 * and a new snapshot afterwards: its buffer never holds more than one event. While no viewer is there, nothing is printed.
 */
import { Readable } from 'node:stream';
import { type Attention, LIVE_NODE_COLUMNS } from '@lingua/protocol';
import { inSteps } from '../../../management/stats/count-part.ts';
import type { History } from '../../../management/stats/history.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Meter } from '../../../ports/meter.ts';
import { viewInstance, viewPoint } from './figures-view.ts';
import type { NodeRows, RowChanges } from './node-rows.ts';

export interface LiveFeed {
  /** Begins with a snapshot; ends when the signal is aborted, or `once` after the snapshot. */
  open(signal: AbortSignal, once?: boolean): Readable;
  /** A second has ended: sends a delta to every viewer that keeps up. Never rejects. */
  sendDelta(): Promise<void>;
  viewers(): number;
}

interface Viewer {
  readonly stream: Readable;
  readonly isOnce: boolean;
  /** It has no snapshot yet, or missed a delta. */
  isBehind: boolean;
}

export function createLiveFeed(deps: {
  readonly clock: Clock;
  readonly meter: Pick<Meter, 'count'>;
  readonly log: Pick<Log, 'error'>;
  readonly instanceId: string;
  readonly rows: NodeRows;
  readonly history: Pick<History, 'latest' | 'instances'>;
  readonly attention: () => readonly Attention[];
}): LiveFeed {
  const { clock, meter, log, rows, history } = deps;
  const viewers = new Set<Viewer>();
  let seq = 0;
  let attention = '[]';
  let snapshot: Promise<readonly Buffer[]> | undefined;
  let last: Promise<void> = Promise.resolve();
  let isSending = false;
  /** The rows are those of the event before. */
  let isCurrent = false;

  /** The parts of every event. */
  function heading(): string {
    const now = clock.now();
    const instances = history.instances().map((each) => viewInstance(each, now));
    const point = history.latest();
    const figures = point === undefined ? '' : `,"figures":${JSON.stringify(viewPoint(point))}`;
    return `"seq":${seq},"at_ms":${now},"instances":${JSON.stringify(instances)}${figures}`;
  }

  function printDelta({ loads, nodes, removed }: RowChanges, hasNews: boolean): Buffer {
    const list = (name: string, texts: readonly string[]): string =>
      texts.length === 0 ? '' : `,"${name}":[${texts.join(',')}]`;
    const lists = list('loads', loads) + list('nodes', nodes) + list('removed', removed);
    const news = hasNews ? `,"attention":${attention}` : '';
    return Buffer.from(`id: ${seq}\nevent: delta\ndata: {${heading()}${lists}${news}}\n\n`);
  }

  /** In parts, because a snapshot of 10,000 nodes has a megabyte. */
  function* printSnapshot(): Generator<void, readonly Buffer[]> {
    const begin = `id: ${seq}\nevent: snapshot\ndata: {${heading()},"instance_id":${JSON.stringify(deps.instanceId)},"node_columns":${COLUMNS},"attention":${attention},"nodes":[`;
    const parts = [Buffer.from(begin)];
    const all = yield* rows.all();
    for (let at = 0; at < all.length; at += ROWS_PER_PART) {
      yield;
      const some = all.slice(at, at + ROWS_PER_PART).join(',');
      parts.push(Buffer.from(at === 0 ? some : `,${some}`));
    }
    return [...parts, Buffer.from(']}\n\n')];
  }

  async function update(): Promise<Buffer> {
    const changes = await inSteps(rows.update(), clock);
    seq += 1;
    snapshot = undefined;
    isCurrent = true;
    const present = JSON.stringify(deps.attention());
    const hasNews = present !== attention;
    attention = present;
    return printDelta(changes, hasNews);
  }

  async function sendSnapshot(viewer: Viewer): Promise<void> {
    snapshot ??= inSteps(printSnapshot(), clock);
    const parts = await snapshot;
    if (!viewers.has(viewer) || !viewer.isBehind) return;
    viewer.isBehind = false;
    for (const part of parts) viewer.stream.push(part);
    if (viewer.isOnce) end(viewer);
  }

  async function sendToAll(): Promise<void> {
    const delta = await update();
    for (const viewer of [...viewers]) {
      if (!viewers.has(viewer)) continue;
      if (viewer.stream.readableLength > 0) {
        viewer.isBehind = true;
        meter.count('scheduler_live_events_skipped_total');
      } else if (viewer.isBehind) await sendSnapshot(viewer);
      else viewer.stream.push(delta);
    }
  }

  /** One at a time: a delta has the changes since the event before. After a fault, viewers connect again and get a snapshot. */
  function inTurn(run: () => Promise<void>): Promise<void> {
    last = last.then(run).catch((fault: unknown) => {
      log.error({ err: fault }, 'the live feed failed; its viewers are disconnected');
      for (const viewer of [...viewers]) end(viewer);
    });
    return last;
  }

  async function forgetUnwatched(): Promise<void> {
    if (viewers.size > 0) return;
    isCurrent = false;
    snapshot = undefined;
    rows.clear();
  }

  function end(viewer: Viewer): void {
    viewers.delete(viewer);
    if (!viewer.stream.destroyed) viewer.stream.push(null);
  }

  return {
    open(signal, once = false) {
      const stream = new Readable({ read: () => {} });
      const viewer: Viewer = { stream, isOnce: once, isBehind: true };
      viewers.add(viewer);
      if (signal.aborted) end(viewer);
      signal.addEventListener('abort', () => end(viewer), { once: true });
      stream.once('close', () => {
        viewers.delete(viewer);
        void inTurn(forgetUnwatched);
      });
      void inTurn(async () => {
        if (!viewers.has(viewer)) return;
        if (!isCurrent) await update();
        await sendSnapshot(viewer);
      });
      return stream;
    },
    async sendDelta() {
      if (viewers.size === 0 || isSending) return;
      isSending = true;
      await inTurn(sendToAll);
      isSending = false;
    },
    viewers: () => viewers.size,
  };
}

const ROWS_PER_PART = 1_000;
const COLUMNS = JSON.stringify(LIVE_NODE_COLUMNS);
