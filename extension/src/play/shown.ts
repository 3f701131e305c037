/** What the parts of the page share. */
import { decimal } from '../shared/language';
import { visibleToken } from '../widgets/dom';
import { translated } from '../widgets/words';
import { ISampling } from './sampling';
import { IPosition } from './transformer';

export interface IShown {
  /** The text of each token; the first is the start of the text. */
  tokens: string[];
  positions: IPosition[];
  /** The position of the query whose attention is shown; -1: the last. */
  query: number;
  layer: number;
  head: number;
  sampling: ISampling;
}

export interface IPart {
  node: HTMLElement;
  draw(): void;
}

/** The text of a token. */
export type Decode = (token: number) => string;

export const START = 0; // the token before each text

export const READS = 'en'; // the language of the model's texts and words, whatever the page around them speaks

export const SAMPLING: ISampling = { temperature: 1, topK: 0, topP: 1 };

/** A token without the blank before it, which most have. */
export const word = (token: string): string => visibleToken(token.replace(/^ (?=\S)/, ''));

export const percent = (p: number): string =>
  (p >= 0.995 ? '100' : p < 0.095 ? decimal(100 * p, 1) : decimal(100 * p, 0)) + ' %';

/** A token that may come next, as it is shown: the start of a text is the end of the one before it. */
export const nextWord = (token: number, decode: Decode): string =>
  token === START ? translated('⟨end⟩') : word(decode(token));

/** A word in the quotation marks of the reader's language. */
export const inQuotes = (text: string): string => translated('“%1”', text);

/** The token at a position, in a sentence. */
export const quoted = ({ tokens }: IShown, position: number): string =>
  position === 0 ? translated('the start') : inQuotes(word(tokens[position]));

/** The position of the query whose attention is shown. */
export const queryPosition = ({ query, tokens }: IShown): number => (query < 0 ? tokens.length - 1 : query);

/** Choose the query at a position; what is chosen already is not drawn again. */
export function chooseQuery(shown: IShown, position: number, redraw: () => void): void {
  if (queryPosition(shown) !== position) {
    shown.query = position;
    redraw();
  }
}

/** The keyboard's way through a row of buttons, of which one can be reached by Tab: arrow keys, Home and End. */
export function roving(event: KeyboardEvent, buttons: HTMLElement[], columns = 1): void {
  if (event.altKey || event.ctrlKey || event.metaKey) {
    return; // the browser's: Alt+← is the page before
  }
  const at = buttons.indexOf(event.target as HTMLElement);
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  const ends: Record<string, number> = { Home: 0, End: buttons.length - 1 };
  const to = event.key in ends ? ends[event.key] : at + (steps[event.key] ?? 0);
  if (at >= 0 && to !== at && buttons[to]) {
    event.preventDefault();
    buttons[to].focus();
    buttons[to].click();
  }
}
