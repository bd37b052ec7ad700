/** Composition root: what the console shows: the history of the figures and the live feed. */
import type { PrometheusMeter } from '../../adapters/prometheus/meter.ts';
import type { ClusterReader } from '../../cluster/operators/cluster-reader.ts';
import { type Gather, gatherHere } from '../../cluster/operators/gather.ts';
import type { Origins } from '../../config/load-config.ts';
import { listSettings } from '../../config/print-config.ts';
import type { Config } from '../../config/settings.ts';
import { countBits } from '../../domain/bits.ts';
import { DEFAULT_TENANT, type NodeId } from '../../domain/ids.ts';
import { createRequirements } from '../../domain/requirements.ts';
import { attentionOf } from '../../management/stats/attention.ts';
import { createClientReports } from '../../management/stats/client-reports.ts';
import { createFiguresService } from '../../management/stats/figures-service.ts';
import { createSampleFigures } from '../../management/stats/sample-figures.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { readLanguageMatrix } from '../../runtime/explain/read-language-matrix.ts';
import { poolName } from '../../runtime/pools/describe-confinement.ts';
import { createDemand } from '../../transport/http/watch/demand.ts';
import { createLiveFeed } from '../../transport/http/watch/live-feed.ts';
import { createNodeRows, type NodeOrigin } from '../../transport/http/watch/node-rows.ts';
import { createSearch } from '../../transport/http/watch/search.ts';
import { createSessionPage } from '../../transport/http/watch/session-page.ts';
import { createReadTakeovers } from '../../transport/http/watch/takeovers.ts';
import type { Core } from '../create-core.ts';
import { coreServices } from '../settings/settings-from-config.ts';

const MINUTE_MS = 60_000;
/** The state of the instances needs some commands to the store: it is read less often than the figures. */
const WARNINGS_EVERY_MS = 5_000;

export function createWatching(parts: {
  readonly config: Config;
  readonly origins: Origins;
  readonly clock: Clock;
  readonly meter: PrometheusMeter;
  readonly log: Log;
  /** Empty: there is only one instance. */
  readonly instanceId: string;
  readonly core: Pick<
    Core,
    'fleet' | 'jobs' | 'sessions' | 'registry' | 'recentAttempts' | 'multiInstance' | 'reader' | 'tenancy'
  >;
  readonly cluster: Pick<ClusterReader, 'read'>;
}) {
  const { clock, meter, log, instanceId, core, cluster } = parts;
  const { fleet, jobs, sessions, registry, recentAttempts, multiInstance } = core;

  const figures = createFiguresService({
    clock,
    instanceId,
    sample: createSampleFigures({
      reader: meter.reader,
      levels() {
        const { sessions: open, connected } = sessions.counts();
        return {
          inFlight: jobs.inFlight(),
          waiting: jobs.waiting(),
          oldestWaitMs: jobs.oldestWaitMs(),
          sessions: open,
          connected,
        };
      },
      failing: recentAttempts.failing,
    }),
    send: multiInstance?.figures.send,
  });
  multiInstance?.figures.onReceived(figures.receive);
  const { history } = figures;

  function originOf(nodeId: NodeId): NodeOrigin {
    const record = multiInstance?.replica.find(nodeId);
    const { region = '', zone = '', platform = '' } = record ?? registry.get(nodeId) ?? {};
    return {
      instanceId: record?.holder.instanceId ?? instanceId,
      region,
      zone,
      version: (record === undefined ? registry.get(nodeId)?.version : record.programVersion) ?? '',
      platform,
    };
  }

  let warnings: readonly string[] = [];
  let warningsReadAt = Number.NEGATIVE_INFINITY;

  /** Never waits: the next event has the answer. */
  function readWarnings(): void {
    if (clock.now() - warningsReadAt < WARNINGS_EVERY_MS) return;
    warningsReadAt = clock.now();
    void cluster.read().then((view) => {
      warnings = view.warnings;
    });
  }

  const feed = createLiveFeed({
    clock,
    meter,
    log,
    instanceId,
    history,
    rows: createNodeRows({
      fleet,
      originOf,
      poolName: (poolId) => (fleet.pools === undefined ? '' : poolName(fleet.pools.plan, poolId)),
    }),
    attention() {
      readWarnings();
      return attentionOf({
        points: history.points(1, clock.now() - MINUTE_MS),
        nodes: { ...fleet.counts(), ejected: countBits(fleet.table.facts.words('ejected')) },
        failing: history.instances().flatMap(({ failing }) => failing),
        warnings,
      });
    },
  });
  figures.onPoint(() => void feed.sendDelta());

  const gather: Gather = multiInstance?.gather ?? gatherHere(instanceId);
  const require = createRequirements(coreServices(parts.config.scheduler));
  /** As in sessions: recognition, translation and speech. */
  const usual = require({ pipeline: { use_asr: true, use_nmt: true, use_tts: true, use_tone: false } });
  const textOnly = require({ pipeline: { use_asr: true, use_nmt: true, use_tts: false, use_tone: false } });

  return {
    feed,
    history,
    search: createSearch({ clock, fleet, originOf, reader: core.reader, sessions, gather }),
    demand: createDemand({
      clock,
      gather,
      fleet,
      usualSlots: parts.config.scheduler.max_concurrent_jobs_per_node,
      tenancy: core.tenancy,
      readPressure: jobs.pressure,
      readMatrix: () =>
        readLanguageMatrix(fleet, (source, target, hasVoice) => ({
          tenantId: DEFAULT_TENANT,
          sessionId: DEFAULT_TENANT,
          directions: [{ source, target }],
          isSourceAuto: false,
          isPairUnknown: false,
          ...(hasVoice ? usual : textOnly),
          isAudioByReference: false,
          needsPublicNode: true,
          isStrict: false,
        })),
      sessionsByTenant: sessions.byTenant,
    }),
    sessionPage: createSessionPage({ gather, sessions, reader: core.reader }),
    takeovers: createReadTakeovers({ gather, recent: () => multiInstance?.takeover.recent() ?? [] }),
    reports: createClientReports({
      clock,
      meter,
      tenantShare: core.tenancy.maxShare,
      storesTexts: parts.config.privacy.store_texts,
    }),
    gather,
    settings: () => listSettings(parts.config, parts.origins),
    start: figures.start,
    stop: figures.stop,
  };
}
