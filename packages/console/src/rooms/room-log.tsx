/** What is said in a room, live, in some of its languages, with the delay of each. */
import type { RoomView } from '@lingua/protocol';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { clockTime, count, duration, languageName } from '../show/format.ts';
import { Empty, Failure, Numeric, Table } from '../show/parts.tsx';
import { t } from '../texts/text.ts';
import { delayOf, languagesOf, type Rendition, type Said } from './caption-log.ts';
import { type Captions, followCaptions, MOST_LANGUAGES } from './follow-captions.ts';
import { RenditionNote } from './rendition-note.tsx';
import { roomPath } from './room-path.ts';
import { tRoom } from './room-text.ts';

export function RoomLog({ room, onEnded }: { room: RoomView; onEnded: () => void }) {
  const [chosen, setChosen] = useState<readonly string[]>();
  const offered = languagesOf(room);
  const followed = (chosen ?? offered).slice(0, MOST_LANGUAGES);
  const captions = useMemo(
    () => followCaptions((query) => roomPath(room.room_id, '/captions', query)),
    [room.room_id],
  );
  // Without a choice the page keeps to its first languages: another order of the list is no reason to connect again.
  const first = offered.slice(0, MOST_LANGUAGES).sort().join();
  useEffect(() => captions.follow(followed), [captions, chosen, first]);
  useEffect(() => captions.stop, [captions]);
  const hasEnded = captions.hasEnded.value;
  useEffect(() => {
    if (hasEnded) onEnded();
  }, [hasEnded, onEnded]);
  const shown = [...followed].sort();

  return (
    <section>
      <h2>{tRoom('room.log')}</h2>
      <p class="quiet">{tRoom('room.log_doc', { most: MOST_LANGUAGES })}</p>
      {offered.length === 0 ? (
        <Empty>{tRoom('room.no_language')}</Empty>
      ) : (
        <>
          <fieldset class="room-languages" aria-label={t('column.languages')}>
            {[...new Set([...offered, ...followed])].sort().map((language) => {
              const isOn = followed.includes(language);
              return (
                <label key={language}>
                  <input
                    type="checkbox"
                    checked={isOn}
                    disabled={!isOn && followed.length >= MOST_LANGUAGES}
                    onChange={() =>
                      setChosen(isOn ? followed.filter((each) => each !== language) : [...followed, language])
                    }
                  />
                  {languageName(language)}
                </label>
              );
            })}
          </fieldset>
          <Problems captions={captions} />
          <Delays captions={captions} languages={shown} />
          <Log captions={captions} languages={shown} />
        </>
      )}
    </section>
  );
}

function Problems({ captions: { problems } }: { captions: Captions }) {
  return (
    <>
      {[...problems.value].map(([language, problem]) =>
        problem.status === 0 ? (
          <p key={language} class="notice warning" role="status">
            {tRoom('room.reconnecting', { language: languageName(language) })}
          </p>
        ) : (
          <Failure key={language} error={problem} />
        ),
      )}
    </>
  );
}

interface LogProps {
  readonly captions: Captions;
  readonly languages: readonly string[];
}

function Delays({ captions: { log }, languages }: LogProps) {
  const delays = languages.flatMap((language) => {
    const delay = delayOf(log.value, language);
    return delay === undefined ? [] : [{ language, ...delay }];
  });
  if (delays.length === 0) return <p class="quiet">{tRoom('room.delay_none')}</p>;
  return (
    <Table
      label={tRoom('room.delay')}
      head={[
        tRoom('room.delay'),
        `#${tRoom('room.delay_last')}`,
        `#${tRoom('room.delay_median')}`,
        `#${tRoom('room.delay_count')}`,
      ]}
    >
      {delays.map((delay) => (
        <tr key={delay.language}>
          <th scope="row">{languageName(delay.language)}</th>
          <Numeric>{duration(delay.lastMs)}</Numeric>
          <Numeric>{duration(delay.medianMs)}</Numeric>
          <Numeric>{count(delay.count)}</Numeric>
        </tr>
      ))}
    </Table>
  );
}

function Log({ captions: { log, hasMissed }, languages }: LogProps) {
  const said = log.value.filter(({ renditions }) => languages.some((language) => renditions.has(language)));
  return (
    <>
      {hasMissed.value && <p class="notice">{tRoom('room.missed')}</p>}
      {said.length === 0 ? (
        <Empty>{tRoom('room.silent')}</Empty>
      ) : (
        <ul class="conversation" aria-live="polite">
          {[...said].reverse().map((each) => (
            <SaidItem key={each.seq} said={each} languages={languages} />
          ))}
        </ul>
      )}
    </>
  );
}

function SaidItem({ said, languages }: { said: Said; languages: readonly string[] }) {
  return (
    <li>
      <p class="quiet">
        {said.speakerName ?? tRoom('room.unnamed')} · {clockTime(said.startedAt)}
      </p>
      {languages.map((language) => {
        const rendition = said.renditions.get(language);
        return rendition === undefined ? null : (
          <RenditionLine key={language} language={language} rendition={rendition} />
        );
      })}
    </li>
  );
}

function RenditionLine({ language, rendition }: { language: string; rendition: Rendition }) {
  const { text, textLanguage, isFinal, errorCode, delayMs } = rendition;
  return (
    <p class="rendition">
      <span class="quiet">{languageName(language)}</span>
      <span>
        <span lang={textLanguage}>{text}</span>
        <RenditionNote isFinal={isFinal} errorCode={errorCode} />
      </span>
      <span class="quiet">{delayMs !== undefined && isFinal && duration(delayMs)}</span>
    </p>
  );
}
