/** A search field that changes the address when the person stops typing, so that each search can be shared. */
import { useEffect, useState } from 'preact/hooks';
import { route, setQuery } from '../shell/router.ts';

const PAUSE_MS = 250;

export function Search({ name, label }: { name: string; label: string }) {
  const asked = route.value.query.get(name) ?? '';
  const [typed, setTyped] = useState(asked);
  useEffect(() => setTyped(asked), [asked]);
  useEffect(() => {
    if (typed === asked) return;
    const timer = setTimeout(() => setQuery({ [name]: typed.trim() }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, asked, name]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  );
}
