/** The two ways to speak: a button that is held, and one that starts listening. */
import { useEffect, useState } from 'preact/hooks';
import type { Capture } from './capture.ts';
import { tTalk } from './talk-text.ts';

interface ButtonProps {
  /** What is said now is sent. */
  readonly isActive: boolean;
  readonly isPossible: boolean;
}

export function HoldButton(
  props: ButtonProps & {
    readonly label?: string;
    readonly onPress: () => void;
    readonly onRelease: () => void;
  },
) {
  const { isActive, isPossible, label, onPress, onRelease } = props;
  const isKey = (event: KeyboardEvent): boolean => event.key === ' ' || event.key === 'Enter';
  return (
    <button
      type="button"
      class={`press ${isActive ? 'active' : ''}`}
      disabled={!isPossible}
      onPointerDown={onPress}
      onPointerUp={onRelease}
      onPointerLeave={() => isActive && onRelease()}
      onPointerCancel={onRelease}
      onKeyDown={(event) => {
        if (isKey(event) && !event.repeat) onPress();
      }}
      onKeyUp={(event) => {
        if (isKey(event)) onRelease();
      }}
      onContextMenu={(event) => event.preventDefault()}
    >
      {isActive ? tTalk('talk.speaking') : (label ?? tTalk('talk.hold'))}
    </button>
  );
}

export function HandsFreeButton(
  props: ButtonProps & Pick<Capture, 'loudness'> & { readonly onListen: (isOn: boolean) => Promise<unknown> },
) {
  const { isActive, isPossible, loudness, onListen } = props;
  const [isOn, setOn] = useState(false);
  useEffect(() => () => void onListen(false), [onListen]);
  return (
    <>
      <button
        type="button"
        class={`press ${isActive ? 'active' : ''}`}
        aria-pressed={isOn}
        disabled={!isPossible}
        onClick={() => {
          setOn(!isOn);
          void onListen(!isOn);
        }}
      >
        {tTalk(isActive ? 'talk.heard' : isOn ? 'talk.listening' : 'talk.start')}
      </button>
      <div class="level" aria-hidden="true">
        <i style={{ width: `${Math.min(100, loudness.value * 400)}%` }} />
      </div>
    </>
  );
}
