/** The volume of the speakers' own voices while a translation is heard. */

export type Original = 'off' | 'duck' | 'full';

/** Of an audio or video element. */
export interface OriginalElement {
  volume: number;
  muted: boolean;
}

const DUCKED = 0.15;

/** `isMutedOnly`: the volume of an element cannot be changed, as on iOS. */
export function createOriginals(isMutedOnly: boolean) {
  const elements = new Set<OriginalElement>();
  let wish: Original = 'duck';
  let isPlaying = false;

  function apply(element: OriginalElement): void {
    const isDucked = wish === 'duck' && isPlaying;
    element.muted = wish === 'off' || (isDucked && isMutedOnly);
    if (!isMutedOnly) element.volume = isDucked ? DUCKED : 1;
  }

  const applyAll = (): void => elements.forEach(apply);

  return {
    add(element: OriginalElement): () => void {
      elements.add(element);
      apply(element);
      return () => void elements.delete(element);
    },
    wish(original: Original): void {
      wish = original;
      applyAll();
    },
    playing(isNow: boolean): void {
      isPlaying = isNow;
      applyAll();
    },
  };
}

/** An iPad calls itself a Mac, but has a touch screen. */
export function isIos(): boolean {
  const { userAgent = '', maxTouchPoints = 0 } =
    (globalThis as { navigator?: { userAgent?: string; maxTouchPoints?: number } }).navigator ?? {};
  return /iP(hone|ad|od)/.test(userAgent) || (userAgent.includes('Mac') && maxTouchPoints > 1);
}
