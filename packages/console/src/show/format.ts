/** Numbers with units, in the notation of the chosen language. */
import { language } from '../shell/preferences.ts';
import { t } from '../texts/text.ts';

const locale = (): string => (language.value === 'zh' ? 'zh-CN' : 'en-GB');
/** Shown where a value is unknown. */
export const UNKNOWN = '–';

export const count = (value: number | undefined): string =>
  value === undefined ? UNKNOWN : new Intl.NumberFormat(locale(), { maximumFractionDigits: 0 }).format(value);

export const decimal = (value: number): string =>
  new Intl.NumberFormat(locale(), { maximumFractionDigits: value < 10 ? 1 : 0 }).format(value);

export const rate = (value: number): string => `${decimal(value)}${t('unit.per_second')}`;

export const percent = (value: number | undefined): string =>
  value === undefined || value < 0 ? UNKNOWN : `${decimal(value)} %`;

export function duration(ms: number | undefined): string {
  if (ms === undefined) return UNKNOWN;
  if (ms > 0 && ms < 1) return `<1 ${t('unit.ms')}`;
  if (ms < 1_000) return `${Math.round(ms)} ${t('unit.ms')}`;
  if (ms < 60_000) return `${decimal(ms / 1_000)} ${t('unit.s')}`;
  if (ms < 3_600_000)
    return `${Math.floor(ms / 60_000)} ${t('unit.min')} ${Math.round((ms % 60_000) / 1_000)} ${t('unit.s')}`;
  if (ms < 86_400_000)
    return `${Math.floor(ms / 3_600_000)} ${t('unit.h')} ${Math.round((ms % 3_600_000) / 60_000)} ${t('unit.min')}`;
  return `${Math.floor(ms / 86_400_000)} ${t('unit.d')} ${Math.round((ms % 86_400_000) / 3_600_000)} ${t('unit.h')}`;
}

export const bytes = (value: number): string =>
  value < 1_024
    ? `${value} B`
    : value < 1_048_576
      ? `${decimal(value / 1_024)} KB`
      : `${decimal(value / 1_048_576)} MB`;

export const absolute = (atMs: number): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'short', timeStyle: 'medium' }).format(atMs);

export const clockTime = (atMs: number): string =>
  new Intl.DateTimeFormat(locale(), { timeStyle: 'medium' }).format(atMs);

/** Of the browser; a tag that is no language is shown as it is. */
export function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames(locale(), { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
