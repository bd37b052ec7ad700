/** Cold path: one session as a conversation: what happened in it on all instances, and its last utterances. */
import type { SessionDetail, SessionUtterance } from '@lingua/protocol';
import type { Gather } from '../../../cluster/operators/gather.ts';
import type { SessionId } from '../../../domain/ids.ts';
import type { JobRecord } from '../../../domain/job.ts';
import type { JobReader } from '../../../runtime/job-reader.ts';
import type { LoggedEvent } from '../../../session/session-log.ts';
import type { SessionService } from '../../../session/session-service.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';
import { summarizeJob } from '../views/job-view.ts';
import { viewSession } from '../views/session-view.ts';
import { answerers } from './answerers.ts';
import { viewSpans } from './job-spans.ts';

const MAX_EVENTS = 500;
const MAX_UTTERANCES = 50;

export interface SessionPage {
  /** Undefined: no instance that answered knows it. */
  read(sessionId: SessionId): Promise<SessionDetail | undefined>;
  /** What happened in the session, by the instances that answered. Oldest first. */
  events(sessionId: SessionId): Promise<readonly LoggedEvent[]>;
}

export function createSessionPage(deps: {
  readonly gather: Gather;
  readonly sessions: Pick<SessionService, 'describe'>;
  readonly reader: Pick<JobReader, 'list'>;
}): SessionPage {
  const gather = deps.gather('describe_session', async ({ sessionId }: { sessionId: SessionId }) => {
    const { session, events } = deps.sessions.describe(sessionId);
    return { session: session && viewSession(session), events: events.slice(-MAX_EVENTS) };
  });
  const inOrder = (parts: Iterable<{ readonly events: readonly LoggedEvent[] }>): LoggedEvent[] =>
    [...parts].flatMap(({ events }) => events).sort((a, b) => a.at - b.at);

  return {
    events: async (sessionId) => inOrder((await gather({ sessionId })).parts.values()),
    async read(sessionId) {
      const [gathered, { jobs }] = await Promise.all([
        gather({ sessionId }),
        deps.reader.list({ sessionId, limit: MAX_UTTERANCES }),
      ]);
      const { parts } = gathered;
      const events = inOrder(parts.values());
      const [holder, held] = [...parts].find(([, { session }]) => session !== undefined) ?? [];
      if (held === undefined && events.length === 0 && jobs.length === 0) return undefined;
      return omitUndefined({
        session_id: sessionId,
        instance_id: holder,
        session: held?.session,
        events: events
          .slice(-MAX_EVENTS)
          .map(({ at, kind, index, jobId, detail }) =>
            omitUndefined({ at_ms: at, kind, utterance_index: index, job_id: jobId, detail }),
          ),
        utterances: [...jobs].reverse().map(viewUtterance),
        ...answerers(gathered),
      });
    },
  };
}

/** Without its sound, which has a path of its own. */
const viewUtterance = (job: JobRecord): SessionUtterance =>
  omitUndefined({
    ...summarizeJob(job),
    spans: viewSpans(job),
    has_audio: (job.result?.ttsAudio ?? '') !== '',
    text_asr: job.result?.textAsr,
    text_translated: job.result?.textTranslated,
  });
