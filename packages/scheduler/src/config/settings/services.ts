/** Settings outside the hot path: the service catalogue, core services, warnings about slow operations. */
import { optional } from '../compound-setting.ts';
import { group, ignored, integer, number, text, url } from '../setting.ts';

const serviceId = (stage: string) =>
  text({
    default: '',
    pattern: /^[A-Za-z0-9._:@/-]{0,128}$/,
    allowed: 'a service id of at most 128 characters, or empty',
    doc: `Service that ${stage} needs. Empty: any service of the type.`,
  });

export const modelHub = group('Source of the service catalogue.', {
  base_url: optional(
    url({
      default: '',
      schemes: ['http', 'https'],
      doc: 'Address of the ModelHub. Unset: no catalogue is fetched.',
    }),
  ),
  storage_path: optional(
    text({
      default: '',
      doc: 'Folder with a `services_index.json` to use while the ModelHub does not answer.',
    }),
  ),
});

export const serviceCatalog = group('How the service catalogue is kept fresh.', {
  refresh_interval_seconds: number({
    default: 30,
    min: 1,
    max: 3_600,
    unit: 'seconds',
    doc: 'Time between fetches.',
  }),
  request_timeout_ms: integer({
    default: 20_000,
    min: 100,
    max: 120_000,
    unit: 'ms',
    doc: 'How long a fetch may take.',
  }),
  backoff_after_failures: integer({
    default: 3,
    min: 1,
    max: 100,
    doc: 'Consecutive failures after which fetches become rarer.',
  }),
  backoff_base_seconds: number({
    default: 30,
    min: 1,
    max: 3_600,
    unit: 'seconds',
    doc: 'First longer wait; each further failure doubles it.',
  }),
  backoff_max_seconds: number({
    default: 300,
    min: 1,
    max: 86_400,
    unit: 'seconds',
    doc: 'Longest wait.',
  }),
});

export const stats = group('Statistics for dashboards (/api/v1/stats).', {
  snapshot_interval_ms: integer({
    default: 5_000,
    min: 100,
    max: 60_000,
    unit: 'ms',
    doc: 'Time between two counts. A snapshot is stale when it is older than twice that.',
  }),
});

export const coreServices = group('Services that every job needs.', {
  asr_service_id: serviceId('speech recognition'),
  nmt_service_id: serviceId('translation'),
  tts_service_id: serviceId('speech synthesis'),
});

export const observability = group('Thresholds of warnings about slow operations, and traces.', {
  otlp_endpoint: optional(
    url({
      default: '',
      schemes: ['http', 'https'],
      doc: 'Address of the OTLP/HTTP collector for traces, like `http://collector:4318`; `/v1/traces` is added. Headers: environment variable `OTEL_EXPORTER_OTLP_HEADERS`. Unset: no traces.',
    }),
  ),
  trace_sample_ratio: number({
    default: 1,
    min: 0,
    max: 1,
    doc: 'Share of the traces that are sent, chosen by trace id: the same ones on every instance.',
  }),
  trace_service_name: text({
    default: 'lingua-scheduler',
    pattern: /^\S.{0,127}$/,
    allowed: 'a name of at most 128 characters',
    doc: 'Name of this program in traces (`service.name`).',
  }),
  lock_wait_warn_ms: integer({
    default: 10,
    min: 0,
    max: 60_000,
    unit: 'ms',
    doc: 'Wait for a mailbox, a single flight or the event loop.',
  }),
  path_warn_ms: integer({
    default: 50,
    min: 0,
    max: 60_000,
    unit: 'ms',
    doc: 'Time on an important path.',
  }),
});

const noRerun = 'Nodes decide about recognising again.';

export const asrRerun = group('Keys of earlier configuration files.', {
  max_rerun_count: ignored(noRerun),
  rerun_timeout_ms: ignored(noRerun),
  conference_mode_strict: ignored(noRerun),
});
