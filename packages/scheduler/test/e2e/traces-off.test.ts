/**
 * Without a trace endpoint there is no tracer, and OpenTelemetry is not loaded. In its own file, because modules stay
 * loaded.
 */
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { startOtlpReceiver } from './support/otlp-receiver.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { openSession, sessionUrl, utterance } from './support/session-client.ts';
import { startApp } from './support/start-app.ts';

const isLoaded = (): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((path) =>
    /exporter-trace-otlp-http|sdk-trace/.test(path),
  );

async function talk(app: Awaited<ReturnType<typeof startApp>>): Promise<void> {
  await joinSdkNode({ url: app.nodeUrl, onJob: async () => OUTPUT });
  await app.readyNodes(1);
  const session = await openSession({ url: sessionUrl(app) });
  session.send(utterance(session, 0));
  await session.outcome();
}

it('OpenTelemetry is loaded only when traces are enabled', async () => {
  await talk(await startApp());
  expect(isLoaded()).toBe(false);
  const receiver = await startOtlpReceiver();
  await startApp({ 'scheduler.observability.otlp_endpoint': receiver.url });
  expect(isLoaded()).toBe(true);
});
