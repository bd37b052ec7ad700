/** Hot path: all sessions of this instance, each with its own event queue. The effects of a step run after it. */
import type { DispatchRequest } from '../domain/dispatch.ts';
import type { JobId, SessionId, TenantId } from '../domain/ids.ts';
import type { PlanRunner } from '../domain/plan.ts';
import type { QuotaState } from '../domain/quota.ts';
import { createRequirements } from '../domain/requirements.ts';
import type { Tenancy } from '../domain/tenancy.ts';
import { withTimeout } from '../domain/with-timeout.ts';
import type { AudioStore } from '../ports/audio-store.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { SlowWatch } from '../ports/slow-watch.ts';
import type { Tracer } from '../ports/tracer.ts';
import { summarize } from './connection/session-summary.ts';
import { createSessionTable } from './connection/session-table.ts';
import { createTenantSessionCaps } from './connection/tenant-session-caps.ts';
import type { SessionEffect, SessionEvent } from './event.ts';
import { createEventQueue } from './event-queue.ts';
import { createHandover } from './handover/handover.ts';
import { createRemoteJobFollower } from './handover/remote-job-follower.ts';
import { createSessionSaver } from './handover/session-saver.ts';
import { nextWakeAt } from './outcomes/after-step.ts';
import { createDispatchWithRetry } from './outcomes/dispatch-with-retry.ts';
import { createInterimWatch } from './outcomes/interim-watch.ts';
import { createJobWatch } from './outcomes/job-watch.ts';
import { createPlanWatch } from './outcomes/plan-watch.ts';
import type { SessionLink } from './output.ts';
import {
  createSession,
  type Opening,
  type Session,
  takeIndex,
  type Utterance,
  understands,
} from './session.ts';
import { createSessionLog } from './session-log.ts';
import type { Elsewhere, JobDispatcher, Opened, SessionService } from './session-service.ts';
import { createSessionTraces } from './session-traces.ts';
import type { Pools } from './speech/preferred-pool.ts';
import { stepSession } from './step.ts';
import type { SessionSettings, StepTools } from './step-context.ts';

export interface SessionServiceDeps {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly ids: IdSource;
  readonly audio: AudioStore;
  readonly meter: Meter;
  readonly log: Log;
  readonly jobs: JobDispatcher;
  /** Runs utterances in several languages. */
  readonly plans: PlanRunner;
  /** Several nodes together could do a job that no single node can. Absent: never. */
  readonly isSplittable?: ((request: DispatchRequest) => boolean) | undefined;
  readonly pools: Pools;
  readonly settings: SessionSettings & { readonly maxWaiting: number };
  /** A quota that the tenant has reached, from memory. Absent: no tenant has one. */
  readonly reachedQuota?: ((tenantId: TenantId) => QuotaState | undefined) | undefined;
  /** Absent: there are no rooms. */
  readonly voiceInRoom?: StepTools['voiceInRoom'] | undefined;
  readonly speaking?: ((sessionId: SessionId, isSpeaking: boolean) => void) | undefined;
  /** Absent: no tenant has a cap. */
  readonly tenancy?: Tenancy | undefined;
  /** Absent: sessions end with this process. */
  readonly elsewhere?: Elsewhere | undefined;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** A client has the result of this job for good. Absent: that changes nothing. */
  readonly delivered?: ((jobId: JobId) => void) | undefined;
  /** Absent: slow events are not measured. */
  readonly slow?: SlowWatch | undefined;
}

/** Upper bound of a random first index; as many further indexes follow. */
const RANDOM_BASE = 2 ** 31;
/** Indexes of legacy sessions start 10 higher each second, more than a client speaks in it, and have at most 7 digits. */
const INDEX_STEP_MS = 100;
const INDEX_SPAN = 10_000_000;
/** Limit of the wait for a save before `server_draining` is sent. */
const SAVE_LIMIT_MS = 1_000;

export function createSessionService(deps: SessionServiceDeps): SessionService {
  const { clock, chance, ids, audio, meter, log, settings, elsewhere } = deps;
  const tenantCaps = deps.tenancy?.capsSessions
    ? createTenantSessionCaps({
        tenancy: deps.tenancy,
        maxSessions: settings.maxSessions,
        maxResultBytes: settings.maxResultBytesTotal,
      })
    : undefined;
  const sessionTable = createSessionTable({
    maxSessions: settings.maxSessions,
    maxResultBytes: settings.maxResultBytesTotal,
    evict,
    tenantCaps,
  });
  const { sessions } = sessionTable;
  const tools: StepTools = {
    settings,
    ids,
    audio,
    pools: deps.pools,
    isTraced: deps.tracer !== undefined,
    require: createRequirements(settings.coreServices),
    reachedQuota: (tenantId) => deps.reachedQuota?.(tenantId),
    voiceInRoom: (sessionId) => deps.voiceInRoom?.(sessionId),
    queueShare: () => (settings.maxWaiting === 0 ? 0 : deps.jobs.waiting() / settings.maxWaiting),
  };
  const traces = deps.tracer && createSessionTraces({ tracer: deps.tracer, clock });
  const sessionLog = createSessionLog();
  const post = createEventQueue({ clock, slow: deps.slow, handle, onEmptied });
  const dispatching = new Set<Utterance>();
  const dispatcher = createDispatchWithRetry({ ...deps, retryForMs: settings.pendingTimeoutMs });
  const follow =
    elsewhere &&
    createRemoteJobFollower({
      ...elsewhere,
      clock,
      waitForRecordMs: settings.pendingTimeoutMs,
      isDispatching: (utterance) => dispatching.has(utterance),
    });
  const watch = createJobWatch({ ...deps, dispatcher, dispatching, elsewhere: follow, log, post });
  const planWatch = createPlanWatch({ runner: deps.plans, post });
  const interimWatch = createInterimWatch({ ...deps, post, delivered: deps.delivered });
  const saver = elsewhere && createSessionSaver({ ...elsewhere, clock, chance, log, post });
  const handover =
    elsewhere &&
    saver &&
    createHandover({ elsewhere, saver, watch, planWatch, ids, clock, log, sessionTable, tools, post });

  function evict(session: Session): void {
    post(session, { kind: 'evicted' });
  }

  function handle(session: Session, event: SessionEvent, at: number): void {
    const before = sessionTable.countedState(session);
    sessionLog.noteEvent(session, event, at);
    runAll(session, stepSession(session, event, at, tools), at);
    sessionTable.recount(session, before);
    // For an ended session, the code that ended it writes the last state.
    if (session.unsaved !== 'nothing' && session.phase !== 'ended') saver?.schedule(session);
  }

  function onEmptied(session: Session): void {
    wakeInTime(session);
    sessionTable.trimResults();
  }

  /** A failed effect must not stop the others: an utterance would be accepted and never dispatched. */
  function runAll(session: Session, effects: readonly SessionEffect[], at: number): void {
    for (const effect of effects) {
      sessionLog.noteEffect(session, effect, at);
      try {
        run(session, effect);
      } catch (fault) {
        log.error(
          { session_id: session.sessionId, effect: effect.kind, err: fault },
          'an effect of a session failed',
        );
      }
    }
  }

  const watchOf = ({ rendition }: Utterance) => (rendition === undefined ? watch : planWatch);

  function noteDelivered(utterance: Utterance): void {
    const jobIds = utterance.rendition === undefined ? [utterance.jobId] : planWatch.delivered(utterance);
    for (const jobId of jobIds) deps.delivered?.(jobId);
  }

  function run(session: Session, effect: SessionEffect) {
    switch (effect.kind) {
      case 'send':
        return session.link?.send(session.sessionId, effect.output);
      case 'replace':
        return effect.link.replaced();
      case 'abandon':
        return effect.link.abandoned();
      case 'dispatch':
        return watch.dispatch(session, effect.utterance, effect.request);
      case 'plan':
        return planWatch.run(session, effect.utterance, effect.request);
      case 'interim':
        return interimWatch.run(session, effect);
      case 'speaking':
        return deps.speaking?.(session.sessionId, effect.isSpeaking);
      case 'interim_over':
        return interimWatch.cancel(session);
      case 'forget':
        return watchOf(effect.utterance).forget(effect.utterance);
      case 'hand_over':
        return watchOf(effect.utterance).handOver(effect.utterance);
      case 'cancel':
        return watchOf(effect.utterance).cancel(effect.utterance, effect.message, effect.code);
      case 'count':
        return meter.count(effect.name, effect.labels, effect.by);
      case 'observe':
        return meter.observe(effect.name, effect.value, effect.labels);
      case 'trace':
        return traces?.outcomeDelivered(session, effect.delivered, effect.at);
      case 'delivered':
        return noteDelivered(effect.utterance);
      case 'remove_saved':
        return void saver?.remove(session);
      case 'departed':
        return endSession(session, effect.reason);
      case 'end':
        endSession(session, effect.reason);
        traces?.ended(session);
        return cancelUnsettled(session, effect.unsettled ?? []);
    }
  }

  function endSession(session: Session, reason: string): void {
    session.phase = 'ended';
    session.wake?.cancel();
    session.wake = undefined;
    session.link = undefined;
    interimWatch.cancel(session);
    if (sessionTable.remove(session)) meter.count('scheduler_sessions_ended_total', { reason });
    log.debug({ session_id: session.sessionId, reason }, 'session ended');
  }

  /** Cancels the jobs of an ended session, unless another instance owns the session by now. */
  function cancelUnsettled(session: Session, unsettled: readonly Utterance[]): void {
    const cancel = (utterance: Utterance) =>
      watchOf(utterance).cancel(utterance, 'the session that waited for it ended', 'SESSION_CLOSED');
    if (!session.isShared || saver === undefined) {
      for (const utterance of unsettled) cancel(utterance);
      return;
    }
    void saver.remove(session).then((result) => {
      // If another instance may own the session, its jobs are not cancelled; they end at their deadline at the latest.
      for (const utterance of unsettled)
        result === 'removed' ? cancel(utterance) : watchOf(utterance).handOver(utterance);
    });
  }

  /** One timer per session, replaced only by an earlier one: chunks arrive far more often than pauses. */
  function wakeInTime(session: Session): void {
    const at = session.phase === 'ended' ? undefined : nextWakeAt(session, settings);
    const { wake } = session;
    if (at === undefined || (wake !== undefined && wake.at <= at)) return;
    wake?.cancel();
    session.wake = {
      at,
      cancel: clock.after(Math.max(0, at - clock.now()), () => {
        session.wake = undefined;
        post(session, { kind: 'time_passed' });
      }),
    };
  }

  /** Resolves when the call does, or at the limit. */
  const atMost = (limitMs: number, what: string, call: () => Promise<unknown>): Promise<unknown> =>
    withTimeout(clock, limitMs, what, call).catch(() => undefined);

  const flushed = async (session: Session): Promise<unknown> =>
    saver && atMost(SAVE_LIMIT_MS, 'save of a draining session', () => saver.flush(session));

  async function drained(limitMs: number): Promise<void> {
    await atMost(limitMs, 'outcomes of all utterances', () =>
      Promise.all([new Promise<void>(watch.onEmpty), new Promise<void>(planWatch.onEmpty)]),
    );
    await Promise.all([...sessions.values()].filter(({ isShared }) => isShared).map(flushed));
  }

  function resumable({ tenantId, resume }: Opening): Session | undefined {
    const session = resume === undefined ? undefined : sessions.get(resume.sessionId);
    if (session === undefined || resume === undefined || session.tenantId !== tenantId) return undefined;
    const isProven = session.resumeDigest === ids.digest(resume.token);
    return isProven && session.phase !== 'closing' ? session : undefined;
  }

  function create(opening: Opening): { session: Session; resumeToken: string | undefined } {
    const canResume = opening.abilities !== undefined && settings.resumeTtlMs > 0;
    const resumeToken = canResume ? ids.traceId() + ids.traceId() : undefined;
    const at = clock.now();
    const isTimed = settings.indexBase === 'time' && opening.abilities === undefined;
    const session = createSession(ids.sessionId(), opening, {
      at,
      firstIndex: settings.indexBase === 'random' ? Math.floor(chance() * RANDOM_BASE) : 0,
      leastCutIndex: isTimed ? Math.floor(at / INDEX_STEP_MS) % INDEX_SPAN : 0,
      resumeDigest: resumeToken === undefined ? undefined : ids.digest(resumeToken),
      isShared: canResume && elsewhere !== undefined,
    });
    sessionTable.add(session);
    return { session, resumeToken };
  }

  function attach(
    session: Session,
    opening: Opening,
    link: SessionLink,
    how: { readonly resumeToken?: string | undefined; readonly hasMoved?: boolean } = {},
  ): Opened {
    const { resumeToken, hasMoved = false } = how;
    const isResumed = resumeToken === undefined && opening.resume?.sessionId === session.sessionId;
    const kind = hasMoved ? 'moved' : isResumed ? 'resumed' : 'new';
    meter.count('scheduler_sessions_opened_total', { kind });
    post(session, { kind: 'attached', link, opening, isResumed, hasMoved, resumeToken });
    return { kind: 'opened', sessionId: session.sessionId };
  }

  function openHere(opening: Opening, link: SessionLink): Opened {
    const session = resumable(opening);
    if (session !== undefined) return attach(session, opening, link);
    const full = sessionTable.refusalFor(opening.tenantId);
    if (full !== undefined) return full;
    const created = create(opening);
    return attach(created.session, opening, link, created);
  }

  return {
    open(opening, link) {
      const resuming = handover?.resumeSession(opening);
      if (resuming === undefined) return openHere(opening, link);
      return resuming.then((result) => {
        if (result.kind === 'none') return openHere(opening, link);
        if (result.kind !== 'resumed') return result;
        return attach(result.session, opening, link, { hasMoved: true });
      });
    },
    receive(sessionId, credential, event) {
      const session = sessions.get(sessionId);
      if (session === undefined || session.opening.credential !== credential) return 'unknown';
      post(session, event);
      return 'taken';
    },
    left(sessionId, link) {
      const session = sessions.get(sessionId);
      if (session !== undefined) post(session, { kind: 'detached', link });
    },
    jobMoved(job) {
      watch.moved(job);
      interimWatch.moved(job);
    },
    takeIndex: (sessionId) => takeIndex(sessions.get(sessionId)),
    partial: watch.partial,
    drain(limits) {
      let notified = 0;
      const { reconnectAfterMs } = limits;
      for (const session of [...sessions.values()]) {
        if (session.link !== undefined && understands(session, 'server_draining')) notified += 1;
        post(session, { kind: 'drain', ...limits });
        if (session.isShared)
          void flushed(session).then(() => post(session, { kind: 'ready_to_move', reconnectAfterMs }));
      }
      return { notified, ended: drained(limits.limitMs) };
    },
    release: async (sessionId) => handover?.release(sessionId) ?? false,
    abandonAll() {
      handover?.abandon();
      for (const session of [...sessions.values()]) post(session, { kind: 'depart', why: 'fenced' });
      saver?.stop();
    },
    reassert: () => saver?.reassert(),
    list: sessionTable.page,
    close(sessionId) {
      const session = sessions.get(sessionId);
      if (session !== undefined) post(session, { kind: 'close_ordered' });
      return session !== undefined;
    },
    byTenant() {
      const counts = new Map<string, number>();
      for (const { tenantId } of sessions.values()) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
      return counts;
    },
    describe(sessionId) {
      const session = sessions.get(sessionId);
      return { session: session && summarize(session), events: sessionLog.of(sessionId) };
    },
    erase({ sessionId, tenantId, jobId }) {
      const session = sessions.get(sessionId);
      if (session === undefined || (tenantId !== undefined && session.tenantId !== tenantId)) return false;
      post(session, { kind: 'erased', jobId });
      return true;
    },
    languageUses: sessionTable.languageUses,
    capRefusal: sessionTable.capRefusal,
    tenants: sessionTable.tenants,
    isFull: () => sessionTable.connected() >= settings.maxSessions,
    counts: () => ({
      sessions: sessions.size,
      connected: sessionTable.connected(),
      watched: watch.size() + planWatch.size(),
      resultBytes: sessionTable.resultBytes(),
    }),
    stop() {
      for (const session of sessions.values()) session.wake?.cancel();
      dispatcher.stop();
      follow?.stopAll();
      saver?.stop();
    },
  };
}
