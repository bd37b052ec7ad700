/** Hot path: gives a translation the terms of its glossary. A job without one passes untouched. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import { type Glossary, termsFor } from '../../domain/glossary.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { Log } from '../../ports/log.ts';
import type { Glossaries } from './glossaries.ts';

type Dispatch = (request: DispatchRequest) => MaybePromise<DispatchOutcome>;

export function dispatchWithGlossary(deps: {
  readonly dispatch: Dispatch;
  readonly glossaries: Pick<Glossaries, 'recent'>;
  /** The glossary of a tenant for jobs that name none. */
  readonly ofTenant: (tenantId: TenantId) => string | undefined;
  readonly log: Log;
}): Dispatch {
  const { dispatch, glossaries, ofTenant, log } = deps;

  function withTerms(
    request: DispatchRequest,
    glossaryId: string,
    glossary: Glossary | undefined,
  ): MaybePromise<DispatchOutcome> {
    const { tenantId, spec } = request;
    if (glossary === undefined) {
      if (spec.glossaryId !== undefined) return missing(tenantId, glossaryId);
      // A glossary that someone removed must not stop all work of its tenant.
      log.warn({ tenant_id: tenantId, glossary_id: glossaryId }, 'the glossary of a tenant does not exist');
      return dispatch(request);
    }
    const terms = termsFor(glossary, spec);
    return dispatch(
      terms.length === 0 ? request : { ...request, spec: { ...spec, glossary: { glossaryId, terms } } },
    );
  }

  return function dispatchJob(request) {
    const { tenantId, spec } = request;
    const glossaryId = spec.glossaryId ?? ofTenant(tenantId);
    if (glossaryId === undefined || !spec.pipeline.use_nmt) return dispatch(request);
    try {
      const glossary = glossaries.recent(tenantId, glossaryId);
      return glossary instanceof Promise
        ? glossary.then(
            (known) => withTerms(request, glossaryId, known),
            () => STORE_DOWN,
          )
        : withTerms(request, glossaryId, glossary);
    } catch {
      return STORE_DOWN;
    }
  };
}

const missing = (tenantId: TenantId, glossaryId: string): DispatchOutcome => ({
  kind: 'refused',
  code: 'NOT_FOUND',
  message: `tenant ${tenantId} has no glossary "${glossaryId}"`,
  hint: `Store it with POST /v1/glossaries/${glossaryId}, or omit glossary_id.`,
  retryAfterMs: null,
});

const STORE_DOWN: DispatchOutcome = {
  kind: 'refused',
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  message: 'the glossary of the job cannot be read',
};
