/** Cold path: what the pages of the console read beside the live feed. */
import type {
  ConfigReply,
  JobPath,
  JobSpan,
  ReportRequest,
  ScalingQuery,
  SearchQuery,
  SessionPath,
} from '@lingua/protocol';
import type { Gather } from '../../../cluster/operators/gather.ts';
import type { JobRecord } from '../../../domain/job.ts';
import { JOB_OUTCOMES } from '../../../domain/job-query.ts';
import { readLanguages } from '../../../domain/needed-directions.ts';
import { createRequirements } from '../../../domain/requirements.ts';
import type { ClientReports } from '../../../management/stats/client-reports.ts';
import type { Refusal } from '../../wire/error-reply.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { HttpServices } from '../server/http-services.ts';
import { viewDecision } from '../views/explain-view.ts';
import { viewJob } from '../views/job-view.ts';
import { NO_SUCH_JOB, readJob } from '../views/read-job.ts';
import type { Demand } from './demand.ts';
import { viewSpans } from './job-spans.ts';
import type { Search } from './search.ts';
import type { SessionPage } from './session-page.ts';
import type { ReadTakeovers } from './takeovers.ts';

export interface WatchServices {
  readonly search: Search;
  readonly demand: Demand;
  readonly sessionPage: SessionPage;
  readonly takeovers: ReadTakeovers;
  readonly reports: ClientReports;
  readonly gather: Gather;
  readonly settings: () => ConfigReply['settings'];
}

const TARGET_WAIT_MS = 100;

export function addWatchRoutes(routes: Routes, services: HttpServices, watch: WatchServices): void {
  const require = createRequirements(services.settings.coreServices);

  const gatherReports = watch.gather('client_reports', async ({ jobId }: { jobId: string }) =>
    watch.reports.of(jobId),
  );

  /** When the outcome had its turn in the session; absent: it had none, or its instance does not answer. */
  async function delivery({ jobId, sessionId, timeline }: JobRecord): Promise<JobSpan[]> {
    const events = await watch.sessionPage.events(sessionId);
    const delivered = events.findLast((event) => event.jobId === jobId && event.kind === 'delivered');
    const settledAt = timeline.at(-1)?.at;
    if (delivered === undefined || settledAt === undefined) return [];
    return [{ stage: 'deliver', from_ms: Math.min(settledAt, delivered.at), to_ms: delivered.at }];
  }

  /** How an equal job would be placed now: a stored record does not have the fleet of then. */
  function choiceNow({ tenantId, sessionId, spec }: JobRecord) {
    const read = readLanguages({
      src_lang: spec.sourceLanguage,
      tgt_lang: spec.targetLanguage,
      mode: spec.mode,
      lang_a: spec.languageA,
      lang_b: spec.languageB,
      auto_langs: spec.autoLanguages,
    });
    if (services.explainServices === undefined || read.kind === 'invalid') return undefined;
    const { directions, isSourceAuto, isPairUnknown } = read.languages;
    const need = {
      tenantId,
      sessionId,
      directions,
      isSourceAuto,
      isPairUnknown,
      ...require({ pipeline: spec.pipeline, features: spec.features }),
      isAudioByReference: false,
      needsPublicNode: true,
      isStrict: false,
    };
    return viewDecision(need, services.explainServices.explain({ need, waitMs: 0 }), true);
  }

  routes.add<{ Params: JobPath }>('GET', '/api/v1/jobs/:id', {}, async ({ params, principal }, reply) => {
    const job = await readJob(services, principal, params.id);
    if (job === undefined) return replyError(reply, NO_SUCH_JOB);
    const [delivered, { parts }] = await Promise.all([delivery(job), gatherReports({ jobId: job.jobId })]);
    const reports = [...parts.values()].flat().sort((a, b) => a.at - b.at);
    return omitUndefined({
      job: viewJob(job),
      spans: [...viewSpans(job), ...delivered],
      choice: choiceNow(job),
      reports: reports.map(({ at, kind, note }) => omitUndefined({ at_ms: at, kind, note })),
    });
  });

  routes.add<{ Querystring: SearchQuery }>('GET', '/api/v1/search', {}, async ({ query }, reply) => {
    const { outcome } = query;
    if (outcome !== undefined && !(JOB_OUTCOMES as readonly string[]).includes(outcome)) {
      const detail = `"outcome" must be one of ${JOB_OUTCOMES.join(', ')}`;
      return replyError(reply, { code: 'INVALID_MESSAGE', detail, field: '/outcome' });
    }
    return watch.search(query);
  });

  routes.add<{ Params: SessionPath }>('GET', '/api/v1/sessions/:id', {}, async ({ params }, reply) => {
    const session = await watch.sessionPage.read(params.id);
    return session ?? replyError(reply, UNKNOWN_SESSION);
  });

  routes.add<{ Params: JobPath; Body: ReportRequest }>(
    'POST',
    '/v1/job/:id/report',
    {},
    async ({ params, body, principal }, reply) => {
      const job = await readJob(services, principal, params.id);
      if (job === undefined) return replyError(reply, NO_SUCH_JOB);
      return { ok: true, kept: watch.reports.add(job, body.kind, body.note) };
    },
  );

  routes.add('GET', '/api/v1/languages', {}, () => watch.demand.languages());
  routes.add('GET', '/api/v1/tenants', {}, () => watch.demand.tenants());
  routes.add('GET', '/api/v1/takeovers', {}, () => watch.takeovers());
  routes.add<{ Querystring: ScalingQuery }>('GET', '/api/v1/scaling', {}, ({ query }) =>
    watch.demand.scaling(query.target_wait_ms ?? TARGET_WAIT_MS),
  );
  routes.add('GET', '/api/v1/config', {}, (_request, reply) => reply.send({ settings: watch.settings() }));
}

const UNKNOWN_SESSION: Refusal = {
  code: 'NOT_FOUND',
  detail: 'no instance that answered knows this session',
  field: '/id',
  hint: 'Instances remember the newest sessions until they restart. GET /api/v1/search?kind=sessions lists the open ones.',
};
