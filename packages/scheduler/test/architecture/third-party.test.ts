/** Which package may be used where, so that each could be replaced in one folder. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, PACKAGES, packageOf, ROOT, sources } from './source-files.ts';

const SCHEDULER = 'packages/scheduler/src';

/** Package → path prefixes. A package that is not listed may not be used: add it here, and explain it in an ADR. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  typebox: ['packages/protocol/src/'],
  // Simulated people: Node.js 20 has no WebSocket of its own to give to the client SDK.
  ws: [`${SCHEDULER}/transport/`, `${SCHEDULER}/cli/simulated-client/`, 'packages/sdk/src/'],
  fastify: [`${SCHEDULER}/transport/`],
  '@fastify/swagger': [`${SCHEDULER}/transport/`],
  '@fastify/swagger-ui': [`${SCHEDULER}/transport/`],
  // Minted tokens, see ADR 0092.
  jose: [`${SCHEDULER}/transport/access/`],
  pino: [`${SCHEDULER}/adapters/system/`],
  ioredis: [`${SCHEDULER}/adapters/redis/connection/`],
  // Loaded only when traces are on, see ADR 0043.
  '@opentelemetry/api': [`${SCHEDULER}/adapters/opentelemetry/`],
  '@opentelemetry/exporter-trace-otlp-http': [`${SCHEDULER}/adapters/opentelemetry/`],
  '@opentelemetry/resources': [`${SCHEDULER}/adapters/opentelemetry/`],
  '@opentelemetry/sdk-trace': [`${SCHEDULER}/adapters/opentelemetry/`],
  'smol-toml': [`${SCHEDULER}/config/`, `${SCHEDULER}/cli/`],
  '@lingua/protocol': [
    'packages/sdk/src/',
    `${SCHEDULER}/transport/`,
    `${SCHEDULER}/cli/`,
    `${SCHEDULER}/app/`,
    'packages/simulation/src/',
    'packages/console/src/',
  ],
  // Simulated nodes and people use the SDK like real ones.
  '@lingua/sdk': [
    `${SCHEDULER}/cli/`,
    'packages/simulation/src/',
    'packages/console/src/rooms/',
    'packages/console/src/talk/',
    'packages/speech-node/src/',
  ],
  // Only its model file: the detector is plain TypeScript.
  '@ricky0123/vad-web': ['packages/console/src/talk/voice/'],
  preact: ['packages/console/src/'],
  '@preact/signals': ['packages/console/src/'],
  uplot: ['packages/console/src/show/', 'packages/console/src/main.tsx'],
};

/** Declared so that users get this version of what another package needs; ADR 0022 has the reason. */
const PINNED: Readonly<Record<string, readonly string[]>> = { scheduler: ['light-my-request'] };

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

const dependenciesOf = (name: string): string[] => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8')) as Manifest;
  return Object.keys(manifest.dependencies ?? {}).sort();
};

const uses = sources.flatMap((file) =>
  importsOf(file.text).flatMap((module) => {
    const name = packageOf(module);
    return name === undefined ? [] : [{ path: file.path, name }];
  }),
);

describe('third-party packages', () => {
  it('are used only where they are allowed', () => {
    const broken = uses
      .filter(({ path, name }) => !(ALLOWED[name] ?? []).some((start) => path.startsWith(start)))
      .map(({ path, name }) => `${path} uses ${name}`);
    expect(broken).toEqual([]);
  });

  it.each(PACKAGES)('%s declares what it uses, and no more', (name) => {
    const used = new Set([
      ...uses.filter(({ path }) => path.startsWith(`packages/${name}/`)).map((use) => use.name),
      ...(PINNED[name] ?? []),
    ]);
    expect(dependenciesOf(name)).toEqual([...used].sort());
  });

  it('of the protocol are typebox alone', () => {
    expect(dependenciesOf('protocol')).toEqual(['typebox']);
  });

  it('of the SDK are none of a server', () => {
    expect(dependenciesOf('sdk')).toEqual(['@lingua/protocol', 'ws']);
  });
});
