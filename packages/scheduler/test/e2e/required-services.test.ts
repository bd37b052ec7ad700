/** Requirements over real HTTP and sockets: services by id and type, core services, features with their dependencies. */
import type { NodeOptions } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { simulatedCapabilities } from '../../src/cli/simulated-node/simulated-capabilities.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { type RunningApp, startApp } from './support/start-app.ts';

const BASE = simulatedCapabilities(['en', 'zh'], false);
type Capabilities = Partial<NodeOptions['capabilities']>;

const service = (service_id: string, type: string, status = 'running') => ({
  service_id,
  version: '1',
  type,
  device: 'gpu',
  status,
});

const join = (app: RunningApp, nodeId: string, capabilities: Capabilities = {}) =>
  joinSdkNode({
    url: app.nodeUrl,
    nodeId,
    onJob: async () => OUTPUT,
    capabilities: { ...BASE, features_supported: {}, ...capabilities },
  });

const withServices = (...more: ReturnType<typeof service>[]): Capabilities => ({
  installed_services: [...(BASE.installed_services ?? []), ...more],
});

/** Five tries: a wrong rule must not pass by chance. */
async function placesOf(app: RunningApp, fields: Record<string, unknown>): Promise<Set<string>> {
  const places = new Set<string>();
  for (let n = 0; n < 5; n++) places.add((await app.dispatch(fields)).node_id);
  return places;
}

describe('required services', () => {
  it('a service id selects the node that has it ready', async () => {
    const app = await startApp();
    await join(app, 'node-plain');
    await join(app, 'node-large', withServices(service('whisper-large', 'asr')));
    await join(app, 'node-stopped', withServices(service('whisper-large', 'asr', 'stopped')));
    await app.readyNodes(3);
    expect(await placesOf(app, { required_services: ['whisper-large'] })).toEqual(new Set(['node-large']));
    const refused = await app.tryDispatch({ required_services: ['whisper-huge'] });
    expect(refused).toMatchObject({ body: { error: 'NO_CAPABLE_NODE' } });
    expect(refused.body.detail).toContain('whisper-huge');
    expect(refused.body.reasons).toMatchObject([{ reason: 'service_not_installed', count: 3 }]);
  });

  it('a service type selects a node that has one ready', async () => {
    const app = await startApp();
    await join(app, 'node-plain');
    await join(app, 'node-toned', {
      ...withServices(service('tone-1', 'tone')),
      capability_by_type: [...(BASE.capability_by_type ?? []), { type: 'tone', ready: true }],
    });
    await app.readyNodes(2);
    expect(await placesOf(app, { required_services: ['tone'] })).toEqual(new Set(['node-toned']));
  });

  it("required services are part of the request's fingerprint", async () => {
    const app = await startApp();
    await join(app, 'node-large', withServices(service('whisper-large', 'asr')));
    await app.readyNodes(1);
    await app.dispatch({ request_id: 'r1', required_services: ['whisper-large'] });
    await app.dispatch({ request_id: 'r1', required_services: ['whisper-large'] });
    expect(await app.tryDispatch({ request_id: 'r1' })).toMatchObject({
      body: { error: 'IDEMPOTENCY_CONFLICT' },
    });
  });
});

describe('core services', () => {
  it('core services are required of jobs that use their stage', async () => {
    const app = await startApp({ 'scheduler.core_services.tts_service_id': 'piper-tts' });
    await join(app, 'node-other');
    await join(app, 'node-piper', withServices(service('piper-tts', 'tts')));
    await app.readyNodes(2);
    expect(await placesOf(app, { options: { require_tts: true } })).toEqual(new Set(['node-piper']));
    // Without speech the service is not needed.
    await expect.poll(async () => (await app.dispatch()).node_id).toBe('node-other');
  });
});

describe('features', () => {
  it('features select the node that offers them and their dependencies', async () => {
    const app = await startApp();
    await join(app, 'node-plain');
    await join(app, 'node-half', { features_supported: { voice_style_detection: true } });
    await join(app, 'node-whole', {
      features_supported: { voice_style_detection: true },
      installed_models: [{ model_id: 'speaker-id-ecapa', kind: 'other', version: '1' }],
    });
    await app.readyNodes(3);
    const features = { voice_style_detection: true };
    expect(await placesOf(app, { features })).toEqual(new Set(['node-whole']));
    const refused = await app.tryDispatch({ features: { persona_adaptation: true } });
    expect(refused).toMatchObject({ body: { error: 'NO_CAPABLE_NODE' } });
    expect(refused.body.reasons).toMatchObject([{ reason: 'feature_unsupported', count: 3 }]);
  });

  it('unknown features require nothing', async () => {
    const app = await startApp();
    await join(app, 'node-plain');
    await app.readyNodes(1);
    await app.dispatch({ features: { mind_reading: true, emotion_detection: false } });
  });
});
