/** What a person chose: theme and language, remembered by the browser. */
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export type Language = 'en' | 'zh';

const remembered = <Choice extends string>(key: string, choices: readonly Choice[], initial: Choice) => {
  const kept = localStorage.getItem(key) as Choice | null;
  return signal<Choice>(kept !== null && choices.includes(kept) ? kept : initial);
};

export const theme = remembered<Theme>('lingua.theme', ['system', 'light', 'dark'], 'system');
export const language = remembered<Language>(
  'lingua.language',
  ['en', 'zh'],
  navigator.language.startsWith('zh') ? 'zh' : 'en',
);

/** Counts changes of the visible colours, for canvases, which do not follow style sheets. */
export const paletteVersion = signal(0);
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const isSystemDark = signal(systemDark.matches);
systemDark.addEventListener('change', ({ matches }) => {
  isSystemDark.value = matches;
});

effect(() => {
  localStorage.setItem('lingua.theme', theme.value);
  const visible = theme.value === 'system' ? (isSystemDark.value ? 'dark' : 'light') : theme.value;
  document.documentElement.dataset.theme = visible;
  paletteVersion.value = paletteVersion.peek() + 1;
});

effect(() => {
  localStorage.setItem('lingua.language', language.value);
  document.documentElement.lang = language.value === 'zh' ? 'zh-CN' : 'en';
});
