/** Talk through the platform with the own microphone, as an application of the client SDK. */
import type { LanguagesReply, OfferedLanguages } from '@lingua/protocol';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { mayWatch } from '../data/credentials.ts';
import { useResource } from '../data/use-resource.ts';
import { linkTo } from '../shell/router.ts';
import { duration, languageName } from '../show/format.ts';
import { Empty } from '../show/parts.tsx';
import { ReportButton } from '../show/report-button.tsx';
import { t, tOr } from '../texts/text.ts';
import { Choice, Further, ServiceNote } from './choose-languages.tsx';
import { type Conversation, createConversation, type Side } from './conversation.ts';
import { findObstacle } from './microphone.ts';
import { offered } from './offered.ts';
import { HandsFreeButton, HoldButton } from './speak-buttons.tsx';
import { tTalk } from './talk-text.ts';
import type { Turn } from './turns.ts';
import '../styles/talk.css';

type Mode = 'press' | 'hands_free' | 'facing';
const MODES: readonly Mode[] = ['press', 'hands_free', 'facing'];
/** Nodes come and go. */
const REFRESH_MS = 10_000;

const offerOf = (source: string): string => `v1/languages?src=${encodeURIComponent(source)}`;

export function Talk() {
  const { data } = useResource<LanguagesReply>(mayWatch.value ? 'api/v1/languages' : '', REFRESH_MS);
  const [source, setSource] = useState('en');
  const [chosen, setChosen] = useState<string>();
  const [further, setFurther] = useState<readonly string[]>([]);
  const [hasHeadphones, setHeadphones] = useState(false);
  const [mode, setMode] = useState<Mode>('press');
  const { data: offer } = useResource<OfferedLanguages>(offerOf(source), REFRESH_MS);
  const { sources, targets, target } = offered(data, offer, source, chosen);
  const isFacing = mode === 'facing';
  const { data: back } = useResource<OfferedLanguages>(isFacing ? offerOf(target) : '', REFRESH_MS);
  const conversation = useMemo(
    () => createConversation({ a: { source, target }, b: { source: target, target: source } }, further),
    [source, target, further],
  );
  useEffect(() => () => conversation.stop(), [conversation]);
  // Nodes that come later must not change the language of a conversation.
  const isKnown = (offer?.languages.length ?? 0) > 0;
  useEffect(() => (isKnown ? setChosen((before) => before ?? target) : undefined), [isKnown, target]);
  useEffect(() => conversation.setHeadphones(hasHeadphones), [conversation, hasHeadphones]);
  const obstacle = findObstacle();

  return (
    <>
      <h1>{t('nav.talk')}</h1>
      {obstacle !== undefined && <p class="notice warning">{tTalk(`talk.${obstacle}`)}</p>}
      <div class="talk-controls">
        <Choice label={tTalk('talk.from')} value={source} options={sources} onChange={setSource} />
        <button
          type="button"
          aria-label={tTalk('talk.swap')}
          onClick={() => {
            setSource(target);
            setChosen(source);
          }}
        >
          ⇄
        </button>
        <Choice
          label={tTalk('talk.to')}
          value={target}
          options={targets}
          textOnly={offer?.languages.flatMap(({ lang, voice }) => (voice ? [] : lang)) ?? []}
          onChange={setChosen}
        />
        <fieldset class="choice" aria-label={tTalk('talk.mode')}>
          {MODES.map((name) => (
            <button key={name} type="button" aria-pressed={mode === name} onClick={() => setMode(name)}>
              {tTalk(`talk.${name}`)}
            </button>
          ))}
        </fieldset>
      </div>
      <ServiceNote offer={offer} source={source} target={target} />
      {isFacing && <ServiceNote offer={back} source={target} target={source} />}
      {isFacing ? (
        <Facing
          conversation={conversation}
          languages={{ a: source, b: target }}
          isPossible={obstacle === undefined}
          onLeave={() => setMode('press')}
        />
      ) : (
        <>
          <Further
            languages={targets.filter((language) => language !== target)}
            chosen={further}
            onChange={setFurther}
          />
          <label class="talk-option">
            <input
              type="checkbox"
              checked={hasHeadphones}
              onChange={(event) => setHeadphones(event.currentTarget.checked)}
            />
            {tTalk('talk.headphones')}
          </label>
          <Troubles conversation={conversation} />
          {mode === 'press' ? (
            <Press conversation={conversation} side="a" isPossible={obstacle === undefined} />
          ) : (
            <HandsFree conversation={conversation} isPossible={obstacle === undefined} />
          )}
          <Typed conversation={conversation} />
          <Turns conversation={conversation} />
        </>
      )}
    </>
  );
}

function Troubles({ conversation: { obstacle, problem, turns } }: { conversation: Conversation }) {
  const isSimulated = turns.value.some((turn) => turn.isSimulated);
  return (
    <>
      {obstacle.value !== undefined && (
        <p class="notice warning" role="alert">
          {tTalk(`talk.${obstacle.value}`)}
        </p>
      )}
      {problem.value !== '' && (
        <p class="notice warning" role="status">
          {tTalk('talk.disconnected', { reason: problem.value })}
        </p>
      )}
      {isSimulated && (
        <p class="notice" role="status">
          <strong>{tTalk('talk.simulated')}</strong> {tTalk('talk.simulated_doc')}
        </p>
      )}
    </>
  );
}

interface PressProps {
  readonly conversation: Conversation;
  readonly side: Side;
  readonly isPossible: boolean;
  readonly label?: string;
}

const Press = ({ conversation, side, ...shown }: PressProps) => (
  <HoldButton
    {...shown}
    isActive={conversation.speaking.value === side}
    onPress={() => void conversation.press(side)}
    onRelease={conversation.release}
  />
);

const HandsFree = ({ conversation, isPossible }: Pick<PressProps, 'conversation' | 'isPossible'>) => (
  <HandsFreeButton
    isActive={conversation.speaking.value !== undefined}
    isPossible={isPossible}
    loudness={conversation.loudness}
    onListen={conversation.listen}
  />
);

function Typed({ conversation }: { conversation: Conversation }) {
  const [text, setText] = useState('');
  return (
    <form
      class="typed"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') void conversation.type(text.trim());
        setText('');
      }}
    >
      <input
        aria-label={tTalk('talk.type')}
        placeholder={tTalk('talk.type')}
        value={text}
        maxLength={2_000}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit">{tTalk('talk.send')}</button>
    </form>
  );
}

function Turns({ conversation: { turns } }: { conversation: Conversation }) {
  if (turns.value.length === 0) return <Empty>{tTalk('talk.empty')}</Empty>;
  return (
    <ul class="conversation" aria-live="polite">
      {[...turns.value].reverse().map((turn) => (
        <TurnItem key={turn.key} turn={turn} />
      ))}
    </ul>
  );
}

function TurnItem({ turn }: { turn: Turn }) {
  const isOpen = turn.translated === '' && turn.problem === undefined;
  return (
    <li>
      <p class="quiet">
        {turn.source} → {turn.target}
        {turn.isSimulated && ` · ${tTalk('talk.simulated')}`}
        {turn.jobId !== undefined && mayWatch.value && (
          <>
            {' · '}
            <a href={linkTo('job', turn.jobId)}>{tTalk('talk.where')}</a>
          </>
        )}
      </p>
      <p>
        {turn.heard !== ''
          ? turn.heard
          : turn.partial !== ''
            ? `${turn.partial} …`
            : isOpen
              ? tTalk('talk.waiting')
              : ''}
      </p>
      {(turn.translated || turn.draft) !== '' && (
        <p class="translated" lang={turn.target}>
          {turn.translated || `${turn.draft} …`}
        </p>
      )}
      {[...turn.others].map(([language, text]) => (
        <p key={language} class="further" lang={language}>
          <span class="quiet">{languageName(language)}</span> {text}
        </p>
      ))}
      {turn.isSilent === true && turn.translated !== '' && <p class="quiet">{tTalk('talk.silent')}</p>}
      {turn.problem !== undefined && (
        <p>{tTalk('talk.missing', { reason: tOr(`missing.${turn.problem}`, turn.problem) })}</p>
      )}
      {turn.totalMs !== undefined && <Latency turn={turn} totalMs={turn.totalMs} />}
      {!isOpen && turn.jobId !== undefined && <ReportButton jobId={turn.jobId} isPlain />}
    </li>
  );
}

function Latency({ turn, totalMs }: { turn: Turn; totalMs: number }) {
  return (
    <p class="quiet latency">
      {tTalk(turn.isTyped ? 'talk.latency_typed' : 'talk.latency', { total: duration(totalMs) })}
      {turn.parts.length > 0 && ': '}
      {turn.parts.map(({ name, ms }) => `${tTalk(`latency.${name}`)} ${duration(ms)}`).join(' · ')}
      {turn.speechMs !== undefined && ` · ${tTalk('latency.tts')} ${duration(turn.speechMs)}`}
      {turn.soundMs !== undefined && ` · ${tTalk('talk.sound_after', { ms: duration(turn.soundMs) })}`}
    </p>
  );
}

interface FacingProps extends Omit<PressProps, 'side'> {
  readonly languages: Readonly<Record<Side, string>>;
  readonly onLeave: () => void;
}

/** Two people at one device: the half across the table is turned to the other person. */
function Facing({ conversation, languages, isPossible, onLeave }: FacingProps) {
  return (
    <div class="faces">
      <Face conversation={conversation} side="b" language={languages.b} isPossible={isPossible} />
      <div class="between">
        <Troubles conversation={conversation} />
        <button type="button" onClick={onLeave}>
          {tTalk('talk.leave')}
        </button>
      </div>
      <Face conversation={conversation} side="a" language={languages.a} isPossible={isPossible} />
    </div>
  );
}

function Face({ conversation, side, language, isPossible }: PressProps & { language: string }) {
  const last = conversation.turns.value.at(-1);
  const own = last?.heard === '' ? last.partial : last?.heard;
  return (
    <section class={`face ${side === 'b' ? 'across' : ''}`} lang={language}>
      <p class="said" aria-live="polite">
        {last?.side === side ? own : last?.translated}
      </p>
      <Press
        conversation={conversation}
        side={side}
        isPossible={isPossible}
        label={tTalk('talk.hold_in', { language: languageName(language) })}
      />
    </section>
  );
}
