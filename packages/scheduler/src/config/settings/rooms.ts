/** Settings of rooms: limits, times, codes. */
import { boolean, group, integer } from '../setting.ts';

export const rooms = group(
  'Rooms: several speakers, many languages, many listeners. See [rooms](design/rooms.md).',
  {
    max_per_tenant: integer({
      default: 1_000,
      min: 0,
      max: 1_000_000,
      doc: 'Rooms of one tenant at once. Further ones are refused with ROOM_FULL.',
    }),
    max_members: integer({
      default: 10_000,
      min: 1,
      max: 1_000_000,
      doc: 'Members of one room, listeners included.',
    }),
    max_speakers: integer({
      default: 32,
      min: 1,
      max: 1_000,
      doc: 'Members of one room that may speak.',
    }),
    max_listed: integer({
      default: 50,
      min: 1,
      max: 1_000,
      doc: 'Above this number of members further listeners are counted and not listed.',
    }),
    max_languages: integer({
      default: 16,
      min: 1,
      max: 64,
      doc: 'Languages that one utterance is translated into: those with the most listeners.',
    }),
    max_open_utterances: integer({
      default: 4,
      min: 1,
      max: 1_000,
      doc: 'Utterances of one speaker that have no outcome in some language. Then it is asked to pause; at twice as many further ones are refused with RATE_LIMITED.',
    }),
    reorder_ms: integer({
      default: 1_500,
      min: 0,
      max: 60_000,
      unit: 'ms',
      doc: 'How long a finished translation waits for an earlier one of its language. Then the earlier one is shown in its source language, and corrected later.',
    }),
    unheard_ms: integer({
      default: 3_000,
      min: 0,
      max: 600_000,
      unit: 'ms',
      doc: 'A language that no member hears for this long is not translated any more.',
    }),
    idle_ms: integer({
      default: 1_800_000,
      min: 1_000,
      max: 86_400_000,
      unit: 'ms',
      doc: 'A room ends after this time in which no member joined or spoke.',
    }),
    interpreter_ms: integer({
      default: 10_000,
      min: 0,
      max: 600_000,
      unit: 'ms',
      doc: 'After the last utterance of an interpreter, how long its language is not translated by machine.',
    }),
    max_log_entries: integer({
      default: 4_096,
      min: 64,
      max: 100_000,
      doc: 'Entries in the log of one room; an utterance has two, and one or two per language. The oldest are removed first.',
    }),
    log_ttl_ms: integer({
      default: 86_400_000,
      min: 60_000,
      max: 2_592_000_000,
      unit: 'ms',
      doc: 'Age of entries in the log of a room, and how long the log of a recorded room is kept after its end.',
    }),
    legacy_codes: boolean({
      default: false,
      doc: 'Rooms may have codes of six digits, the only ones that the deployed web client accepts. They can be guessed, at `max_wrong_codes_per_minute`.',
    }),
    max_wrong_codes_per_minute: integer({
      default: 5,
      min: 1,
      max: 1_000,
      doc: 'Wrong codes of one address. Then it is refused for a minute.',
    }),
  },
);
