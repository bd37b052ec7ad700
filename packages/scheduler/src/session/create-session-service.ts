/** Hot path: all sessions of this instance, each behind its own mailbox; effects run after the step that asked for them. */
import type { SessionId } from '../domain/ids.ts';
import type { AudioStore } from '../ports/audio-store.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { nextWakeAt } from './flow.ts';
import { createJobWatch } from './job-watch.ts';
import type { Pools } from './preferred-pool.ts';
import { createRoster } from './roster.ts';
import { createSession, type Opening, type Session, understands } from './session.ts';
import type { SessionEffect, SessionEvent } from './session-event.ts';
import type { SessionLink } from './session-output.ts';
import type { JobDesk, SessionService } from './session-service.ts';
import { stepSession } from './step.ts';
import type { SessionSettings, StepTools } from './step-context.ts';

export interface SessionServiceDeps {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly ids: IdSource;
  readonly audio: AudioStore;
  readonly meter: Meter;
  readonly log: Log;
  readonly jobs: JobDesk;
  readonly pools: Pools;
  readonly settings: SessionSettings & { readonly maxWaiting: number };
}

/** A random first number leaves room for as many utterances again. */
const RANDOM_BASE = 2 ** 31;

export function createSessionService(deps: SessionServiceDeps): SessionService {
  const { clock, ids, audio, meter, log, settings } = deps;
  const sessions = new Map<SessionId, Session>();
  const roster = createRoster(sessions);
  let connected = 0;
  /** Of results that wait or are kept, of all sessions. */
  let resultBytes = 0;
  /** Waited for, in the order in which they left. */
  const absent = new Set<Session>();
  const tools: StepTools = {
    settings,
    ids,
    audio,
    pools: deps.pools,
    queueShare: () => (settings.maxWaiting === 0 ? 0 : deps.jobs.waiting() / settings.maxWaiting),
  };
  const watch = createJobWatch({ jobs: deps.jobs, log, post });

  function noteConnection(session: Session, isConnected: boolean): void {
    connected += isConnected ? 1 : -1;
    if (isConnected || session.phase === 'ended') absent.delete(session);
    else absent.add(session);
  }

  /** Who is here matters more than who may come back: the one that has been away longest makes room. */
  function hasRoom(): boolean {
    if (sessions.size < settings.maxSessions) return true;
    evictOne();
    return sessions.size < settings.maxSessions;
  }

  function evictOne(): void {
    const [longest] = absent;
    if (longest !== undefined) post(longest, { kind: 'evicted' });
  }

  /** One event after the other, also those that its own effects bring about. */
  function post(session: Session, event: SessionEvent): void {
    session.queued.push(event);
    if (session.isBusy) return;
    session.isBusy = true;
    try {
      for (let next = session.queued.shift(); next !== undefined; next = session.queued.shift()) {
        const wasConnected = session.link !== undefined;
        const weight = resultBytesOf(session);
        runAll(session, stepSession(session, next, clock.now(), tools));
        const isConnected = session.link !== undefined;
        if (isConnected !== wasConnected) noteConnection(session, isConnected);
        resultBytes += resultBytesOf(session) - weight;
      }
    } finally {
      session.isBusy = false;
    }
    wakeInTime(session);
    if (resultBytes > settings.maxResultBytesTotal) evictOne();
  }

  /** One that fails must not take the others with it: an utterance would be accepted and never dispatched. */
  function runAll(session: Session, effects: readonly SessionEffect[]): void {
    for (const effect of effects) {
      try {
        run(session, effect);
      } catch (fault) {
        log.error({ session_id: session.sessionId, effect: effect.kind, err: fault }, 'an effect failed');
      }
    }
  }

  function run(session: Session, effect: SessionEffect): void {
    switch (effect.kind) {
      case 'tell':
        session.link?.tell(session.sessionId, effect.output);
        return;
      case 'replace':
        effect.link.replaced();
        return;
      case 'dispatch':
        watch.dispatch(session, effect.utterance, effect.request);
        return;
      case 'forget':
        watch.forget(effect.utterance);
        return;
      case 'cancel':
        watch.cancel(effect.utterance, effect.message, effect.code);
        return;
      case 'count':
        meter.count(effect.name, effect.labels, effect.by);
        return;
      case 'observe':
        meter.observe(effect.name, effect.value);
        return;
      case 'end':
        endSession(session, effect.reason);
    }
  }

  function endSession(session: Session, reason: string): void {
    session.phase = 'ended';
    session.wake?.cancel();
    session.wake = undefined;
    session.link = undefined;
    absent.delete(session);
    if (sessions.delete(session.sessionId)) meter.count('scheduler_sessions_ended_total', { reason });
    roster.remove(session.sessionId);
    log.debug({ session_id: session.sessionId, reason }, 'a session ended');
  }

  /** One timer each, set anew only if it would be late: chunks come far more often than pauses. */
  function wakeInTime(session: Session): void {
    const at = session.phase === 'ended' ? undefined : nextWakeAt(session, settings);
    const { wake } = session;
    if (at === undefined || (wake !== undefined && wake.at <= at)) return;
    wake?.cancel();
    session.wake = {
      at,
      cancel: clock.after(Math.max(0, at - clock.now()), () => {
        session.wake = undefined;
        post(session, TIME_PASSED);
      }),
    };
  }

  function quiet(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(limitMs, resolve);
      watch.onEmpty(() => {
        cancel();
        resolve();
      });
    });
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
    const session = createSession(ids.sessionId(), opening, {
      at: clock.now(),
      firstIndex: settings.isIndexBaseRandom ? Math.floor(deps.chance() * RANDOM_BASE) : 0,
      resumeDigest: resumeToken === undefined ? undefined : ids.digest(resumeToken),
    });
    sessions.set(session.sessionId, session);
    roster.add(session.sessionId);
    return { session, resumeToken };
  }

  function attach(session: Session, opening: Opening, link: SessionLink, resumeToken?: string): void {
    const isResumed = resumeToken === undefined && opening.resume?.sessionId === session.sessionId;
    meter.count('scheduler_sessions_opened_total', { kind: isResumed ? 'resumed' : 'new' });
    post(session, { kind: 'attached', link, opening, isResumed, resumeToken });
  }

  return {
    open(opening, link) {
      const session = resumable(opening);
      if (session !== undefined) {
        attach(session, opening, link);
        return { kind: 'opened', sessionId: session.sessionId };
      }
      if (!hasRoom()) return FULL;
      const created = create(opening);
      attach(created.session, opening, link, created.resumeToken);
      return { kind: 'opened', sessionId: created.session.sessionId };
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
    jobMoved: watch.moved,
    partial: watch.partial,
    drain(limits) {
      let told = 0;
      for (const session of [...sessions.values()]) {
        if (session.link !== undefined && understands(session, 'server_draining')) told += 1;
        post(session, { kind: 'drain', ...limits });
      }
      return { told, ended: quiet(limits.limitMs) };
    },
    list: roster.page,
    isFull: () => connected >= settings.maxSessions,
    counts: () => ({ sessions: sessions.size, connected, watched: watch.size(), resultBytes }),
    stop() {
      for (const session of sessions.values()) session.wake?.cancel();
    },
  };
}

/** Nothing of one that has ended is left. */
const resultBytesOf = ({ phase, delivery }: Session): number =>
  phase === 'ended' ? 0 : delivery.pending.bytes + delivery.keptBytes;

const FULL = { kind: 'full' } as const;
const TIME_PASSED = { kind: 'time_passed' } as const;
