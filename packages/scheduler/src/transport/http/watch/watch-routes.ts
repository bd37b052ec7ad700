/** Cold path: what the pages of the console read beside the live feed. */
import type { ConfigReply, JobPath, ScalingQuery, SearchQuery } from '@lingua/protocol';
import type { JobRecord } from '../../../domain/job.ts';
import { JOB_OUTCOMES } from '../../../domain/job-query.ts';
import { readLanguages } from '../../../domain/needed-directions.ts';
import { createRequirements } from '../../../domain/requirements.ts';
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

export interface WatchServices {
  readonly search: Search;
  readonly demand: Demand;
  readonly settings: () => ConfigReply['settings'];
}

const TARGET_WAIT_MS = 100;

export function addWatchRoutes(routes: Routes, services: HttpServices, watch: WatchServices): void {
  const require = createRequirements(services.settings.coreServices);

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
    return omitUndefined({ job: viewJob(job), spans: viewSpans(job), choice: choiceNow(job) });
  });

  routes.add<{ Querystring: SearchQuery }>('GET', '/api/v1/search', {}, async ({ query }, reply) => {
    const { outcome } = query;
    if (outcome !== undefined && !(JOB_OUTCOMES as readonly string[]).includes(outcome)) {
      const detail = `"outcome" must be one of ${JOB_OUTCOMES.join(', ')}`;
      return replyError(reply, { code: 'INVALID_MESSAGE', detail, field: '/outcome' });
    }
    return watch.search(query);
  });

  routes.add('GET', '/api/v1/languages', {}, () => watch.demand.languages());
  routes.add('GET', '/api/v1/tenants', {}, () => watch.demand.tenants());
  routes.add<{ Querystring: ScalingQuery }>('GET', '/api/v1/scaling', {}, ({ query }) =>
    watch.demand.scaling(query.target_wait_ms ?? TARGET_WAIT_MS),
  );
  routes.add('GET', '/api/v1/config', {}, (_request, reply) => reply.send({ settings: watch.settings() }));
}
