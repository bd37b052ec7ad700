/** The command `lingua demo` (npm start): the scheduler with a small simulated fleet, over real sockets. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Origins } from '../../config/load-config.ts';
import type { Config } from '../../config/settings.ts';
import { type CommandIo, interruption } from '../command-io.ts';
import { type Listening, runApp } from '../run-app.ts';
import { parseServerFlags, readServerConfig, SERVER_FLAGS_USAGE } from '../server-flags.ts';
import { createSimulatedFleet } from '../simulated-node/simulated-fleet.ts';

export const DEMO_USAGE = `Usage: lingua demo [options]

Runs the scheduler with a few simulated GPU nodes attached over WebSockets, and prints lines to try.

${SERVER_FLAGS_USAGE}`;

const FLEET = { count: 4, slots: 4, languages: ['en', 'zh', 'ja', 'de', 'fr', 'es'], seed: 1 };
const READY_POLL_MS = 50;

export async function runDemo(argv: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseServerFlags(argv);
  if (flags.kind === 'help') {
    io.out(DEMO_USAGE);
    return 0;
  }
  if (flags.kind === 'invalid') {
    io.err(`lingua demo: ${flags.problem}`);
    return 2;
  }
  const ready = await readServerConfig(flags, io);
  if (ready === undefined) return 2;
  const { config, token } = letDemoIn(ready.config);
  // The demo serves its terminal only: it ends when the terminal is closed.
  const { onReload: _, ...terminal } = io;
  return runApp(quiet(config, ready.origins), terminal, {
    reread: ready.reread,
    origins: ready.origins,
    meanwhile: (listening) => attachFleet(listening, io, token),
  });
}

/** A server that requires tokens gets one more, for this run only: the nodes and the printed curl lines use it. */
function letDemoIn(config: Config): { config: Config; token: string | undefined } {
  const { server } = config;
  if (server.tokens.length === 0 && server.anonymous.length === 0) return { config, token: undefined };
  const token = randomBytes(24).toString('base64url');
  const tokens = [
    ...server.tokens,
    { token, role: 'operator', name: 'demo' } as (typeof server.tokens)[number],
  ];
  return { config: { ...config, server: { ...server, tokens } }, token };
}

/**
 * Log lines about nodes or a busy machine would push the lines to try off the screen. Set log.level to see them.
 */
export function quiet(config: Config, origins: Origins): Config {
  const isUsual = (key: string): boolean => (origins.get(key)?.kind ?? 'default') === 'default';
  if (!isUsual('log.level')) return config;
  const { scheduler } = config;
  const { observability } = scheduler;
  const unwatched = (key: 'lock_wait_warn_ms' | 'path_warn_ms'): number =>
    isUsual(`scheduler.observability.${key}`) ? 0 : observability[key];
  return {
    ...config,
    log: { ...config.log, level: 'warn' },
    scheduler: {
      ...scheduler,
      observability: {
        ...observability,
        lock_wait_warn_ms: unwatched('lock_wait_warn_ms'),
        path_warn_ms: unwatched('path_warn_ms'),
      },
    },
  };
}

async function attachFleet(
  { app, address }: Listening,
  io: CommandIo,
  token: string | undefined,
): Promise<() => Promise<void>> {
  const at = reachable(address);
  const fleet = createSimulatedFleet({
    ...FLEET,
    url: `ws://${at}/ws/node`,
    nodeIdPrefix: 'node-demo',
    ...(token !== undefined && { token }),
  });
  fleet
    .start()
    .catch((error: unknown) => io.err(`lingua demo: a simulated node could not start: ${String(error)}`));
  while (!io.interrupted.aborted && readyNodes(app) < FLEET.count) {
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
  if (!io.interrupted.aborted) io.out(welcome(at, token));
  void interruption(io).then(() => io.out(farewell(app.jobs.inFlight())));
  return () => fleet.stop();
}

const readyNodes = (app: Listening['app']): number =>
  app.registry.list({ limit: 1_000 }).nodes.filter(({ view }) => view.health === 'ready').length;

const reachable = ({ address, port, family }: AddressInfo): string => {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '[::1]' : address;
  return `${family === 'IPv6' && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
};

const farewell = (inFlight: number): string =>
  inFlight === 0
    ? 'Stopping.'
    : `Stopping when ${inFlight} running ${inFlight === 1 ? 'job has' : 'jobs have'} ended; Ctrl-C again ends at once.`;

const welcome = (at: string, token: string | undefined): string => {
  const bearer = token === undefined ? '' : ` -H 'authorization: Bearer ${token}'`;
  const credential = token === undefined ? '' : ` --token ${token}`;
  const login = token === undefined ? '' : `#token=${token}`;
  return `
Open the console in a browser, to watch the fleet and to talk:

  http://${at}/${login}

The scheduler listens on http://${at} with ${FLEET.count} simulated nodes (${FLEET.languages.join(', ')}).
Results are simulated: the nodes recognise nothing and answer with invented sentences, marked by "simulated": true in extra.
Dispatch a job:

  curl -s http://${at}/v1/dispatch/f2f${bearer} -H 'content-type: application/json' -d '{"session_id":"demo","src_lang":"en","tgt_lang":"zh","audio":"AAAAAAAAAAA=","audio_format":"pcm16","sample_rate":16000}'

Then read its result with the job_id from the answer:

  curl -s 'http://${at}/v1/job/JOB_ID?wait_ms=10000'${bearer}

Let two pairs of people talk face to face, their connections cut every 10 seconds:

  npx lingua talk --url http://${at}${credential} --sessions 2 --seconds 30 --cut-every 10

API and schemas: http://${at}/docs   Metrics: http://${at}/metrics   Nodes: http://${at}/api/v1/nodes   Sessions: http://${at}/api/v1/sessions
Ctrl-C ends.
`;
};
