/** Cold path: where a job would be placed and why, the languages that can be offered, and the pools. Dispatches no job. */
import type {
  ExplainRequest,
  OfferedLanguages,
  OfferedLanguagesQuery,
  SimulateQuery,
} from '@lingua/protocol';
import { AUTO, foldLanguage } from '../../../domain/language.ts';
import { createRequirements } from '../../../domain/requirements.ts';
import { inSteps } from '../../../management/stats/count-part.ts';
import { buildDispatch } from '../requests/dispatch-request.ts';
import { readPlan, readTarget } from '../requests/plan-request.ts';
import { refusalOfScope } from '../requests/read-dispatch.ts';
import { refusalOfSpending } from '../server/authorize.ts';
import type { Routes } from '../server/declare-route.ts';
import { replyError } from '../server/handle-error.ts';
import type { ExplainServices, HttpServices } from '../server/http-services.ts';
import { viewDecision, viewExplainedPlan } from '../views/explain-view.ts';
import { viewPools } from '../views/pools-view.ts';
import { buildSimulation, viewSimulation } from '../views/simulate-view.ts';

export function addExplainRoutes(
  routes: Routes,
  { gate, settings, clock }: HttpServices,
  { explain, explainPlan, offerLanguages, readPools, poolSettings }: ExplainServices,
): void {
  const require = createRequirements(settings.coreServices);

  routes.add<{ Body: ExplainRequest }>('POST', '/v1/explain', { namesTenant: true }, (request, reply) => {
    const { headers, principal } = request;
    const targeted = readTarget(request.body);
    if (targeted.kind === 'invalid') {
      return replyError(reply, { code: 'INVALID_MESSAGE', detail: targeted.message, field: targeted.field });
    }
    const { body } = targeted;
    const { node_id: nodeId, exclude_node_id: excludeNodeId, ...dispatch } = body;
    const isOperator = principal.roles.has('operator');
    const tenant = gate.tenantOf(principal, body.tenant_id);
    if (tenant.kind === 'forbidden') {
      return replyError(reply, { code: 'FORBIDDEN', detail: tenant.message, field: '/tenant_id' });
    }
    if (nodeId !== undefined && !isOperator) return replyError(reply, NOT_FOR_CLIENTS);
    const beyond = refusalOfScope(principal.scope, body);
    if (beyond !== undefined) return replyError(reply, beyond);
    const limited =
      principal.tenantId === undefined
        ? refusalOfSpending(gate.spendTenantBudget(tenant.tenantId))
        : undefined;
    if (limited !== undefined) return replyError(reply, limited);
    const built = buildDispatch(dispatch, {
      tenantId: tenant.tenantId,
      idempotencyKey: headers['idempotency-key'] as string | undefined,
      require,
      ...NO_JOB_FIELDS,
    });
    if (built.kind === 'invalid') {
      return replyError(reply, { code: 'INVALID_MESSAGE', detail: built.message, field: built.field });
    }
    const { need, waitMs } = built.request;
    const decision = viewDecision(need, explain({ need, waitMs, nodeId, excludeNodeId }), isOperator);
    if (body.tgt_langs === undefined) return reply.send(decision);
    const made = readPlan(dispatch, built.request, 0);
    if (made.kind === 'invalid') {
      return replyError(reply, { code: 'INVALID_MESSAGE', detail: made.message, field: made.field });
    }
    return reply.send({ ...decision, plan: viewExplainedPlan(explainPlan(made.plan), isOperator) });
  });

  routes.add<{ Querystring: OfferedLanguagesQuery }>(
    'GET',
    '/v1/languages',
    { isForGuests: true },
    async ({ query, principal }, reply) => {
      const tenant = gate.tenantOf(principal, query.tenant_id);
      if (tenant.kind === 'forbidden')
        return replyError(reply, { code: 'FORBIDDEN', detail: tenant.message, field: '/tenant_id' });
      const source = foldLanguage(query.src);
      if (source === AUTO) return replyError(reply, NAMES_NO_LANGUAGE);
      const offered = await inSteps(offerLanguages(tenant.tenantId, source), clock);
      return {
        src_lang: source,
        languages: offered.map(({ language, hasVoice }) => ({ lang: language, voice: hasVoice })),
      } satisfies OfferedLanguages;
    },
  );

  routes.add('GET', '/api/v1/phase3/pools', {}, (_request, reply) =>
    reply.send(viewPools(readPools(), poolSettings())),
  );

  routes.add<{ Querystring: SimulateQuery }>('GET', '/api/v1/phase3/simulate', {}, ({ query }, reply) => {
    const built = buildSimulation(query, require, readPools().plan);
    if (built.kind === 'invalid') {
      return replyError(reply, { code: 'INVALID_MESSAGE', detail: built.message, field: built.field });
    }
    return reply.send(viewSimulation(built.simulation, explain(built.simulation.question)));
  });
}

const NAMES_NO_LANGUAGE = {
  code: 'INVALID_MESSAGE',
  detail: '"src" must be a language: what can be offered depends on it',
  field: '/src',
} as const;

/** No job is created, so it has no utterance index, trace or binding. */
const NO_JOB_FIELDS = { utteranceIndex: 0, sessionId: '', traceId: '', digest: () => '' };

const NOT_FOR_CLIENTS = {
  code: 'FORBIDDEN',
  detail: 'only operators may see why a single node is rejected',
  field: '/node_id',
} as const;
