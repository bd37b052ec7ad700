/**
 * Hot path: a job's record as fields of a HASH, so that a script compares and sets single ones and never reads JSON.
 *
 * id, state, attempt (of the fence) and n (number of entries ever written, which is the revision) are plain; about holds the constant
 * part; t0 … t31 hold the timeline; settled, bound_until, driver and watchers belong to the store and not to the record. What people
 * said is in about, failure and result, which may be sealed.
 */
import type { JobRecord, JobState, TimelineEntry } from '../../../domain/job.ts';
import { type JobChange, MAX_TIMELINE } from '../../../domain/job-change.ts';
import type { StoredJob } from '../../shared-jobs/job-scripts.ts';
import { PLAIN, type SealedPayload } from '../sealed-payload.ts';

/** Entries of a timeline that are never overwritten; as many of the newest share the other fields in turn. */
export const FIRST_ENTRIES = MAX_TIMELINE / 2;

const CHANGING = ['fence', 'intent', 'failure', 'result', 'usage'] as const;
const SEALED: ReadonlySet<string> = new Set(['about', 'failure', 'result']);

export interface RecordFields {
  /** Fields and values in turn. `revision`: entries ever written, of which the record may have lost the middle. */
  fieldsOf(record: JobRecord, driver: string, revision?: number): string[];
  /** Like `fieldsOf`, to overwrite an existing record: fields that the new one lacks are emptied. */
  wholeFieldsOf(record: JobRecord, driver: string, revision: number): string[];
  /** Fields that a move sets besides the timeline. A cleared intent is empty, not absent, so that a script only has to set. */
  changedFields(change: JobChange): string[];
  /** The fields with what people said. */
  textFieldsOf(record: JobRecord): string[];
  /** From fields and values in turn, the form of scripts and HGETALL. */
  jobFromFields(flat: readonly (string | number | null)[]): StoredJob;
}

export function createRecordFields({ seal, open }: SealedPayload = PLAIN): RecordFields {
  const textOf = (name: string, value: unknown): string =>
    SEALED.has(name) ? seal(JSON.stringify(value)) : JSON.stringify(value);

  function aboutOf(record: JobRecord): string {
    const { tenantId, sessionId, requestId, fingerprint, spec, need, audioMs, createdAt, deadlineAt } =
      record;
    const about = { tenantId, sessionId, requestId, fingerprint, spec, need, audioMs, createdAt, deadlineAt };
    return textOf('about', about);
  }

  function fieldsOf(record: JobRecord, driver: string, revision = record.timeline.length): string[] {
    const { timeline } = record;
    const fields = ['id', record.jobId, 'about', aboutOf(record), 'driver', driver];
    fields.push('state', record.state, 'attempt', String(record.fence?.attempt ?? 0));
    for (const name of CHANGING)
      if (record[name] !== undefined) fields.push(name, textOf(name, record[name]));
    fields.push('n', String(revision));
    const lost = revision - timeline.length;
    for (const [index, entry] of timeline.entries()) {
      fields.push(`t${fieldNumber(index < FIRST_ENTRIES ? index : index + lost)}`, entryText(entry));
    }
    return fields;
  }

  return {
    fieldsOf,

    wholeFieldsOf(record, driver, revision) {
      const fields = fieldsOf(record, driver, revision);
      for (const name of CHANGING) if (record[name] === undefined) fields.push(name, '');
      return fields;
    },

    changedFields({ state, fence, intent, failure, result, usage }) {
      const fields = ['state', state];
      if (fence !== undefined) fields.push('fence', JSON.stringify(fence), 'attempt', String(fence.attempt));
      if (intent !== undefined) fields.push('intent', intent === null ? '' : JSON.stringify(intent));
      if (failure !== undefined) fields.push('failure', textOf('failure', failure));
      if (result !== undefined) fields.push('result', textOf('result', result));
      if (usage !== undefined) fields.push('usage', JSON.stringify(usage));
      return fields;
    },

    textFieldsOf(record) {
      const fields = ['about', aboutOf(record)];
      for (const name of ['failure', 'result'] as const)
        if (record[name] !== undefined) fields.push(name, textOf(name, record[name]));
      return fields;
    },

    jobFromFields(flat) {
      const fields = new Map<string, string>();
      for (let at = 0; at + 1 < flat.length; at += 2) fields.set(String(flat[at]), String(flat[at + 1]));
      const json = (name: string) => {
        const text = fields.get(name);
        return text === undefined || text === '' ? undefined : JSON.parse(open(text));
      };
      const about = json('about');
      const revision = Number(fields.get('n'));
      return {
        record: {
          jobId: fields.get('id') ?? '',
          tenantId: about.tenantId,
          sessionId: about.sessionId,
          requestId: about.requestId,
          fingerprint: about.fingerprint,
          spec: about.spec,
          need: about.need,
          state: fields.get('state') as JobState,
          fence: json('fence'),
          intent: json('intent'),
          audioMs: about.audioMs,
          createdAt: about.createdAt,
          deadlineAt: about.deadlineAt,
          timeline: timelineOf(fields, revision),
          failure: json('failure'),
          result: json('result'),
          usage: json('usage'),
        },
        revision,
        driver: fields.get('driver') ?? '',
        watchers: watchersOf(fields.get('watchers')),
      };
    },
  };
}

export const changedEntries = ({ passing, entry }: JobChange): string[] =>
  passing === undefined ? [entryText(entry)] : [...passing.map(entryText), entryText(entry)];

/** Names of instances, each followed by a line break. */
export const watchersOf = (text: string | number | null | undefined): readonly string[] =>
  typeof text === 'string' && text !== '' ? text.split('\n').slice(0, -1) : NO_IDS;

const NO_IDS: readonly string[] = [];

const entryText = ({ state, at, attempt, nodeId, reason }: TimelineEntry): string =>
  JSON.stringify([state, at, attempt, nodeId ?? null, reason ?? null]);

function entryOf(text: string): TimelineEntry {
  const [state, at, attempt, nodeId, reason] = JSON.parse(text);
  return { state, at, attempt, nodeId: nodeId ?? undefined, reason: reason ?? undefined };
}

function timelineOf(fields: ReadonlyMap<string, string>, count: number): TimelineEntry[] {
  const timeline: TimelineEntry[] = [];
  for (let index = 0; index < count; index++) {
    // Later entries have overwritten the middle.
    if (index === FIRST_ENTRIES && count > MAX_TIMELINE) index = count - FIRST_ENTRIES;
    timeline.push(entryOf(fields.get(`t${fieldNumber(index)}`) ?? ''));
  }
  return timeline;
}

const fieldNumber = (index: number): number =>
  index < FIRST_ENTRIES ? index : FIRST_ENTRIES + ((index - FIRST_ENTRIES) % FIRST_ENTRIES);
