/**
 * Words of the views in the reader's language. A view is a script of its own, which no translator is handed to: the lab leaves its own
 * where every script of the page finds it. Where there is no lab (an exported page, a static host), the words stay English.
 */
type Translate = (english: string, ...values: (string | number)[]) => string;

const PLACE = Symbol.for('@tfkit/lab:translate');

/** Say that texts are translated by `translate` from now on; by nobody, without one. */
export function translateBy(translate?: Translate): void {
  (globalThis as Record<symbol, unknown>)[PLACE] = translate;
}

/** A text in the reader's language, with `%1`, `%2` … replaced by the values. */
export function translated(english: string, ...values: (string | number)[]): string {
  const translate = (globalThis as Record<symbol, unknown>)[PLACE] as Translate | undefined;
  return translate
    ? translate(english, ...values)
    : english.replace(/%(\d)/g, (_, place) => String(values[Number(place) - 1]));
}
