/** A trace collector that receives spans by OTLP/HTTP as JSON, on a free port. Stopped with the test that started it. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
  /** Resource attributes of the sender. */
  readonly service: Readonly<Record<string, unknown>>;
}

export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** All received bodies, unchanged. */
  readonly bodies: readonly string[];
  readonly paths: readonly string[];
  answer(status: number): void;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

type WireSpan = Omit<ReceivedSpan, 'attributes' | 'startMs' | 'endMs' | 'service'> & {
  readonly attributes: readonly Attribute[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
};

interface WireBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

const valuesOf = (attributes: readonly Attribute[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const readSpans = (text: string): readonly ReceivedSpan[] =>
  (JSON.parse(text) as WireBody).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: valuesOf(span.attributes),
        startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
        endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
        service: valuesOf(resource.attributes),
      })),
    ),
  );

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const paths: string[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    bodies.push(text);
    paths.push(request.url ?? '');
    if (status === 200) spans.push(...readSpans(text));
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    paths,
    answer(next) {
      status = next;
    },
  };
}

/** The spans of a trace as lines, indented below their parents; spans without their parent are marked. */
export function treeOf(spans: readonly ReceivedSpan[], traceId: string): readonly string[] {
  const own = spans.filter((span) => span.traceId === traceId);
  const ids = new Set(own.map(({ spanId }) => spanId));
  const below = (parent: string | undefined, depth: number): string[] =>
    own
      .filter(({ parentSpanId }) => (parentSpanId || undefined) === parent)
      .sort((one, other) => one.startMs - other.startMs || one.endMs - other.endMs)
      .flatMap(({ name, spanId }) => [`${'  '.repeat(depth)}${name}`, ...below(spanId, depth + 1)]);
  const orphans = own.filter(({ parentSpanId }) => parentSpanId && !ids.has(parentSpanId));
  return [...below(undefined, 0), ...orphans.map(({ name }) => `orphan ${name}`)];
}
