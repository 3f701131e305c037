/** Colours of numbers, mixed by the browser from the style tokens of the page, and for each a text colour that is legible in every theme. */

export interface ICellColour {
  colour: string;
  /** Which of the inks `--tfk-on-1` to `--tfk-on-4` can be read on it. */
  ink: number;
  share: number;
}

const STEP = 5; // shares are rounded to these, so that each colour has a known ink

/** The colour of a value: for shares from low to high, else from orange through the page's colour to blue; the square root spreads small values. */
export function cellColour(value: number, top: number, shares: boolean): ICellColour {
  const share = STEP * Math.round((100 / STEP) * Math.min(1, Math.sqrt(Math.abs(value) / top)));
  return shares ? sequential(share) : diverging(share, value < 0);
}

/** The class with the colour of a value; a rule costs less than a style attribute on each of a thousand cells. */
export function cellClass(value: number, top: number, shares: boolean): string {
  const { ink, share } = cellColour(value, top, shares);
  return `tfk-${shares ? 's' : value < 0 ? 'n' : 'p'}${share} tfk-on-${ink}`;
}

/** The rules of all these classes: backgrounds of cells, and squares of drawings. */
export function colourRules(): string {
  const shares = Array.from({ length: 100 / STEP + 1 }, (_, i) => STEP * i);
  const rule = (name: string, colour: string): string => `.tfk .${name}{background-color:${colour};fill:${colour}}`;
  return shares
    .flatMap(share => [
      rule(`tfk-s${share}`, sequential(share).colour),
      rule(`tfk-p${share}`, diverging(share, false).colour),
      rule(`tfk-n${share}`, diverging(share, true).colour)
    ])
    .join('');
}

function sequential(share: number): ICellColour {
  const [from, to, part] = share > 50 ? ['mid', 'hi', 2 * share - 100] : ['lo', 'mid', 2 * share];
  return {
    colour: `color-mix(in oklab, var(--tfk-seq-${to}) ${part}%, var(--tfk-seq-${from}))`,
    ink: share < 50 ? 1 : share < 70 ? 3 : 4,
    share
  };
}

function diverging(share: number, negative: boolean): ICellColour {
  const deep = negative ? 80 : 85;
  return {
    colour: `color-mix(in oklab, var(--tfk-${negative ? 'neg' : 'pos'}) ${share}%, var(--tfk-zero))`,
    ink: share < 60 ? 1 : share < 70 ? 2 : share < deep ? 3 : 4,
    share
  };
}
