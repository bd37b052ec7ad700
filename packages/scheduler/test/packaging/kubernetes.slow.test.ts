/** ops/kubernetes: rendered by kubectl, judged by the schemas, and its parts agree. No API server has run them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HTTP_ENDPOINTS } from '@lingua/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../architecture/source-files.ts';
import { loaded } from '../config/loaded.ts';
import { type Kubectl, unpackKubectl } from './support/kubectl.ts';
import { installSchemas, type KubernetesObject, type Schemas } from './support/kubernetes-schemas.ts';
import { run } from './support/packed.ts';

const SLOW_MS = 300_000;
const OVERLAYS = ['trial', 'production'];
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};

interface Labels {
  readonly [name: string]: string;
}
interface Rendered extends KubernetesObject {
  readonly data: { readonly 'config.toml': string };
  readonly spec: {
    readonly selector: Labels & { readonly matchLabels: Labels };
    readonly podSelector: { readonly matchLabels: Labels };
    readonly scaleTargetRef: { readonly name: string };
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly volumes: readonly { readonly configMap?: { readonly name: string } }[];
        readonly containers: readonly {
          readonly image: string;
          readonly env: readonly { readonly name: string; readonly value?: string }[];
          readonly startupProbe: Probe;
          readonly readinessProbe: Probe;
          readonly livenessProbe: Probe;
        }[];
      };
    };
  };
}
interface Probe {
  readonly httpGet: { readonly path: string };
}

let kubectl: Kubectl;
let schemas: Schemas;

beforeAll(async () => {
  kubectl = await unpackKubectl();
  schemas = await installSchemas();
}, SLOW_MS);
afterAll(() => Promise.all([kubectl?.remove(), schemas?.remove()]));

const render = async (overlay: string): Promise<Rendered[]> => {
  const folder = join(ROOT, 'ops/kubernetes/overlays', overlay);
  const { stdout, stderr } = await run(kubectl.path, ['kustomize', folder]);
  expect(stderr).toBe('');
  return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
};

describe.each(OVERLAYS)('overlay %s', (overlay) => {
  let objects: readonly Rendered[];
  const one = (kind: string, name = 'lingua-scheduler'): Rendered =>
    objects.find((each) => each.kind === kind && each.metadata.name.startsWith(name)) as Rendered;

  beforeAll(async () => {
    objects = await render(overlay);
  });

  it(
    'every object has the fields and values of its schema, and a wrong one would be found',
    async () => {
      expect(objects.length).toBeGreaterThan(6);
      expect(await schemas.complaints(objects)).toBe('');
      const misspelled = JSON.parse(
        JSON.stringify(objects).replace('terminationGracePeriodSeconds', 'terminationGraceSeconds'),
      ) as Rendered[];
      expect(await schemas.complaints(misspelled)).toContain('terminationGraceSeconds');
    },
    SLOW_MS,
  );

  it('the instances run this version, with a configuration that loads, and may drain', () => {
    const { spec } = one('Deployment').spec.template;
    const [container] = spec.containers;
    expect(container?.image).toMatch(new RegExp(`/lingua-scheduler:${version}$`));
    const config = one('ConfigMap', 'lingua-config');
    expect(spec.volumes).toContainEqual(
      expect.objectContaining({ configMap: { name: config.metadata.name } }),
    );
    // The Secret is made by the operator.
    const text = config.data['config.toml'].replaceAll(
      /token_file = "(.*)"/g,
      'token = "a-token-instead-of-$1"',
    );
    const env = Object.fromEntries(
      (container?.env ?? []).map(({ name, value = '' }) => [name, value.replace('$(POD_IP)', '10.1.2.3')]),
    );
    delete env.POD_IP;
    const { config: settings, warnings } = loaded({ toml: { text, path: 'config.toml' }, env });
    expect(warnings).toEqual([]);
    expect(settings.scheduler.cluster.redis.mode).toBe(overlay === 'trial' ? 'single' : 'cluster');
    // Seconds of preStop are in it, too.
    expect(spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(
      settings.server.drain_timeout_ms + 5_000,
    );
  });

  it('the probes ask for paths that exist, and selectors find the instances', () => {
    const { template } = one('Deployment').spec;
    const [container] = template.spec.containers;
    const paths = [container?.startupProbe, container?.readinessProbe, container?.livenessProbe].map(
      (probe) => probe?.httpGet.path,
    );
    expect(paths).toEqual(['/health/live', '/health/ready', '/health/live']);
    const known = HTTP_ENDPOINTS.map(({ path }) => path as string);
    expect(paths.filter((path = '') => !known.includes(path))).toEqual([]);
    for (const labels of [
      one('Deployment').spec.selector.matchLabels,
      one('Service').spec.selector,
      one('PodDisruptionBudget').spec.selector.matchLabels,
      one('NetworkPolicy').spec.podSelector.matchLabels,
    ])
      expect(template.metadata.labels).toMatchObject(labels);
  });
});

it('autoscaling names the Deployment of the instances', async () => {
  const objects = await render('production');
  const scaler = objects.find(({ kind }) => kind === 'HorizontalPodAutoscaler');
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  expect(scaler?.spec.scaleTargetRef.name).toBe(deployment?.metadata.name);
});
