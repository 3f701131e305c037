/** The languages of the page and of lessons, for speech programs, dates and numbers. */
import type { ITranslator } from '@jupyterlab/translation';

/** Says on the page which language the lab is in: JupyterLab's own page says English whatever was chosen. */
export function sayLanguage(translator: Pick<ITranslator, 'languageCode'> | null): void {
  document.documentElement.lang = (translator?.languageCode ?? 'en').replace('_', '-');
}

/** How dates and numbers are written: in the page's language, as the reader's country does if the browser knows it. */
export function writtenIn(): string {
  const language = document.documentElement.lang || 'en';
  const [wanted] = language.split('-');
  return navigator.languages.find(one => one.split('-')[0] === wanted) ?? language;
}

/** A number with `least` to `most` digits after the point, or after the comma where the reader's language has one. */
export const decimal = (value: number, least: number, most = least): string =>
  value.toLocaleString(writtenIn(), {
    minimumFractionDigits: least,
    maximumFractionDigits: most,
    useGrouping: false
  });

/** The language of a notebook's texts, from its metadata `tfkit`; null if it is not the course's. */
export function languageOf(metadata: unknown): string | null {
  const { unit, language } = (metadata ?? {}) as { unit?: unknown; language?: unknown };
  return typeof unit !== 'string' ? null : typeof language === 'string' ? language : 'en';
}
