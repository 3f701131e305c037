/**
 * Translates the texts of views. A view is a separate script that gets no translator, so the lab stores its own where every
 * script of the page finds it. Without a lab (an exported page, a static host), the texts stay English.
 */
type Translate = (english: string, ...values: (string | number)[]) => string;

const PLACE = Symbol.for('@tfkit/lab:translate');

/** Sets the function that translates texts from now on; without one they are not translated. */
export function translateBy(translate?: Translate): void {
  (globalThis as Record<symbol, unknown>)[PLACE] = translate;
}

/** A text with the values in its places `%1`, `%2` … */
export const fillIn = (text: string, values: readonly (string | number)[]): string =>
  text.replace(/%(\d)/g, (_, place) => String(values[Number(place) - 1]));

/** A text in the reader's language, with `%1`, `%2` … replaced by the values. */
export function translated(english: string, ...values: (string | number)[]): string {
  const translate = (globalThis as Record<symbol, unknown>)[PLACE] as Translate | undefined;
  return translate ? translate(english, ...values) : fillIn(english, values);
}
