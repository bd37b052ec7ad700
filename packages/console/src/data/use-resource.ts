/** Reads something from the API for a page, again every few seconds, and keeps the last answer while a new one is on its way. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { RequestError, request } from './request.ts';

export interface Resource<Reply> {
  readonly data: Reply | undefined;
  readonly error: RequestError | undefined;
  reload(): void;
  readonly isHeld: boolean;
  /** While it is held, newer answers to the same question are dropped. */
  hold(isHeld: boolean): void;
}

export interface ReadOptions {
  /** A list keeps its rows until those of the next search are there: a click on a row that vanishes meanwhile would be lost. */
  readonly isList?: boolean;
}

/** An empty path reads nothing. */
export function useResource<Reply>(
  path: string,
  everyMs = 0,
  { isList = false }: ReadOptions = {},
): Resource<Reply> {
  const [kept, setKept] = useState<{ path: string; data?: Reply; error?: RequestError }>({ path });
  const [version, setVersion] = useState(0);
  const [isHeld, setHeld] = useState(false);
  const isHeldNow = useRef(false);
  isHeldNow.current = isHeld;

  // A new version means: read again.
  useEffect(() => {
    if (path === '') return;
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      try {
        const data = await request<Reply>(path, { signal: control.signal });
        setKept((before) =>
          isHeldNow.current && before.path === path && before.data !== undefined ? before : { path, data },
        );
      } catch (error) {
        if (control.signal.aborted) return;
        const refusal =
          error instanceof RequestError ? error : new RequestError(0, 'UNEXPECTED', String(error), '');
        setKept((before) => ({ ...(before.path === path ? before : {}), path, error: refusal }));
      }
      if (everyMs > 0 && !control.signal.aborted) timer = setTimeout(() => void read(), everyMs);
    };
    void read();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [path, everyMs, version]);

  const isCurrent = kept.path === path;
  return {
    data: isCurrent || isList ? kept.data : undefined,
    error: isCurrent ? kept.error : undefined,
    reload: () => setVersion((before) => before + 1),
    isHeld,
    hold: setHeld,
  };
}
