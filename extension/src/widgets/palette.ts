/** The colours of what is painted on a canvas: mixed from the tokens of the page, as its theme has them now. */
import { FRAME, SCALES } from '../generated/tokens';

export type Colour = [number, number, number];

export const LEVELS = 255;

export interface IPalette {
  /** Changes with the theme. */
  name: string;
  /** 256 tones, from nothing to much. */
  sequential: Colour[];
  /** The colour of empty squares. */
  none: Colour;
  /** The colours of an outline and of the gap inside it. */
  ink: string;
  ground: string;
  /** Of lines between squares. */
  grid: string;
}

/** The scales that maps need besides; each has as many tones. */
export interface IMapPalette extends IPalette {
  /** Of positive and negative numbers, from the colour of nought. */
  positive: Colour[];
  negative: Colour[];
  /** Of each group; the first tone is faint, not absent. */
  groups: Colour[][];
}

/** The tokens that tell groups apart, in this order. */
export const GROUPS = ['--tfk-c1', '--tfk-c2', '--tfk-c3', '--tfk-c4', '--tfk-c8'];
const FAINT = 0.16; // of a group's colour: positions that are allowed but have no weight

const linear = (c: number): number => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const encoded = (c: number): number => (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055);
const times = (rows: number[][], [x, y, z]: number[]): number[] => rows.map(([a, b, c]) => a * x + b * y + c * z);

// Oklab (Ottosson 2020), in which CSS mixes the same tokens for tables
const TO_LMS = [
  [0.412221, 0.536333, 0.051446],
  [0.211903, 0.6807, 0.107397],
  [0.088302, 0.281719, 0.629979]
];
const TO_LAB = [
  [0.210454, 0.793618, -0.004072],
  [1.977998, -2.428592, 0.450594],
  [0.025904, 0.782772, -0.808676]
];
const FROM_LAB = [
  [1, 0.396338, 0.215804],
  [1, -0.105561, -0.063854],
  [1, -0.089484, -1.291486]
];
const FROM_LMS = [
  [4.076742, -3.307712, 0.23097],
  [-1.268438, 2.609757, -0.341319],
  [-0.004196, -0.703419, 1.707615]
];

const toLab = (rgb: Colour): number[] =>
  times(
    TO_LAB,
    times(
      TO_LMS,
      rgb.map(c => linear(c / 255))
    ).map(Math.cbrt)
  );

function fromLab(lab: number[]): Colour {
  const cubes = times(FROM_LAB, lab).map(c => c ** 3);
  return times(FROM_LMS, cubes).map(c => Math.round(255 * Math.max(0, Math.min(1, encoded(c))))) as Colour;
}

/** Tones between colours that follow one another, evenly spaced. */
function scale(stops: Colour[], from = 0): Colour[] {
  const labs = stops.map(toLab);
  return Array.from({ length: LEVELS + 1 }, (_, i) => {
    const place = (from + ((1 - from) * i) / LEVELS) * (labs.length - 1);
    const before = Math.min(labs.length - 2, Math.floor(place));
    return fromLab(labs[before].map((c, k) => c + (labs[before + 1][k] - c) * (place - before)));
  });
}

/** The tones of a scale, mixed with another colour. */
export const faded = (tones: Colour[], over: Colour, share: number): Colour[] =>
  tones.map(tone => tone.map((c, i) => Math.round(over[i] + (c - over[i]) * share)) as Colour);

/** `#abc` and `#aabbcc`. */
function hex(text: string): Colour {
  const digits = text.replace('#', '');
  const wide = digits.length === 3 ? [...digits].map(d => d + d).join('') : digits;
  return [0, 2, 4].map(at => parseInt(wide.slice(at, at + 2), 16)) as Colour;
}

/** A token's value; for a view that is not in a page yet, what the sheet says before any theme. */
const token = (of: string): string =>
  getComputedStyle(document.body).getPropertyValue(of).trim() ||
  (new RegExp(`${of}:\\s*([^;}]+)`).exec(SCALES + FRAME)?.[1] ?? '');

const colour = (of: string): Colour => hex(token(of));

// what the system says: whether its colours take the place of the theme's, and whether they are dark
const SYSTEM = ['(forced-colors: active)', '(prefers-color-scheme: dark)'].map(query => globalThis.matchMedia?.(query));

let known: IPalette | null = null;
let knownMaps: IMapPalette | null = null;
let styled = false; // whether the style sheet was loaded; finding out costs the browser a layout

/** The palette of the page's theme. */
export function palette(): IPalette {
  const { jpThemeName, jpThemeLight } = document.body.dataset;
  const name = [jpThemeName, jpThemeLight, ...SYSTEM.map(one => one?.matches)].join(' ');
  if (!known || !styled || known.name !== name) {
    styled = getComputedStyle(document.body).getPropertyValue('--tfk-void').trim() !== '';
    known = {
      name,
      sequential: scale(['lo', 'mid', 'hi'].map(stop => colour(`--tfk-seq-${stop}`))),
      none: colour('--tfk-void'),
      ink: token('--tfk-ink'),
      ground: token('--tfk-card'),
      grid: token('--tfk-grid')
    };
  }
  return known;
}

/** The same with the scales of signs and groups. */
export function mapPalette(): IMapPalette {
  const shares = palette();
  if (knownMaps?.sequential !== shares.sequential) {
    const zero = colour('--tfk-zero');
    knownMaps = {
      ...shares,
      positive: scale([zero, colour('--tfk-pos')]),
      negative: scale([zero, colour('--tfk-neg')]),
      groups: GROUPS.map(of => scale([shares.none, colour(of)], FAINT))
    };
  }
  return knownMaps;
}

/** Calls `draw` whenever the theme changes; returns a function that ends it. */
export function onTheme(draw: () => void): () => void {
  const observer = new MutationObserver(draw);
  observer.observe(document.body, { attributes: true, attributeFilter: ['data-jp-theme-name', 'data-jp-theme-light'] });
  SYSTEM.forEach(one => one?.addEventListener('change', draw));
  return () => {
    observer.disconnect();
    SYSTEM.forEach(one => one?.removeEventListener('change', draw));
  };
}
