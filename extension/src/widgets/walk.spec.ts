import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IWalk } from '../generated/walk';
import { highlightToken, listen, markToken } from './highlight';
import { linkTo, RecordedModel, shownPlace } from './model';
import { cellColour } from './scales';
import { mount, stopsInRow, walkStops } from './walk';
import { short } from './walknumbers';

const TRACE: IWalk = JSON.parse(readFileSync('../tests/extension/golden/pictures/walk.json', 'utf-8'));

const settle = async (el: HTMLElement): Promise<void> => {
  for (let i = 0; i < 200 && !el.querySelector('.tfk-walk-row li'); i++) {
    await new Promise(resolve => setTimeout(resolve, 5));
  }
};

describe('a walk', () => {
  let el: HTMLElement;
  let model: RecordedModel;
  const press = (node: Element, key: string): boolean =>
    node.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const label = (): string => el.querySelector('[aria-current] > :last-child')!.textContent;
  const cell = (matrix: number, r: number, c: number): HTMLElement =>
    el.querySelector(`[data-matrix="${matrix}"] td[data-row="${r}"][data-col="${c}"]`)!;

  beforeEach(async () => {
    el = document.body.appendChild(document.createElement('div'));
    model = new RecordedModel({ trace: TRACE, place: {} });
    mount(model, el);
    await settle(el);
  });
  afterEach(() => document.body.replaceChildren());

  it('opens on the first softmax, with its row sums, and what it is made from beside it', () => {
    expect(label()).toBe('layer 1: softmax');
    expect(el.querySelectorAll('.tfk-walk-sum')[0].textContent).toBe('Σ 1.00');
    expect([...el.querySelectorAll('.tfk-walk-matrix h4')].map(node => node.textContent)).toEqual([
      'masked scores',
      'weights'
    ]);
    expect(el.querySelector('.tfk-walk-said')!.textContent).toMatch(/^weights\[\., the\] = 0\.\d\d/);
  });

  it('goes from the text to the drawn token by the keyboard, a layer at a time', () => {
    const seen = ['Home', 'ArrowRight', 'ArrowRight', 'End', 'ArrowLeft', 'End', 'ArrowRight'].map(key => {
      press(el.querySelector('.tfk-walk-row')!, key);
      return label();
    });
    const end = 'output: drawn token';
    expect(seen).toEqual(['input: text', 'input: ids', 'input: vectors', end, 'output: logits', end, end]);
    expect(el.querySelectorAll('.tfk-walk-drawn')).toHaveLength(1);
    expect(stopsInRow(walkStops(TRACE), walkStops(TRACE).length - 1).map(i => walkStops(TRACE)[i].part)).not.toContain(
      'layer 1'
    );
  });

  it('outlines the number under the pointer, and what it came from: a row of weights and a column of values', () => {
    const stage = walkStops(TRACE).findIndex(stop => stop.name === 'mix');
    model.set('place', { stage });
    const from = (): string[][] =>
      [...el.querySelectorAll('.tfk-walk-source')].map(source =>
        [...source.querySelectorAll<HTMLElement>('.tfk-from')].map(({ dataset }) => `${dataset.row},${dataset.col}`)
      );
    cell(0, 2, 1).dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
    expect(cell(0, 2, 1).classList.contains('tfk-over')).toBe(true);
    const [weights, values] = from();
    expect(new Set(weights.map(place => place.split(',')[0]))).toEqual(new Set(['2']));
    expect(new Set(values.map(place => place.split(',')[1]))).toEqual(new Set(['1']));
    cell(0, 3, 0).dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
    expect(el.querySelectorAll('.tfk-over')).toHaveLength(1);
    expect(from()[0][0]).toMatch(/^3,/);
    el.querySelector('.tfk-walk-open')!.dispatchEvent(new PointerEvent('pointerleave'));
    expect(el.querySelectorAll('.tfk-over')).toHaveLength(0); // the cursor's again
  });

  it('tells how a number came about', () => {
    const stage = walkStops(TRACE).findIndex(stop => stop.name === 'softmax');
    model.set('place', { stage, head: 1, row: 2, col: 0 });
    expect(el.querySelector('.tfk-walk-said')!.textContent).toMatch(
      /^weights\[cat, the\] = \S+ = exp\(\S+\) \/ \(\S+ \+ \S+ \+ \S+\)$/
    );
    press(el.querySelector('[data-matrix="0"]')!, 'ArrowRight');
    expect(cell(0, 2, 1).classList).toContain('tfk-cursor');
    expect(model.get('place')).toMatchObject({ row: 2, col: 1 });
    expect(cell(0, 2, 3).classList).toContain('tfk-hidden');
  });

  it('says so when its numbers are damaged', async () => {
    const spoiled = document.body.appendChild(document.createElement('div'));
    mount(
      new RecordedModel({
        trace: {
          ...TRACE,
          stages: [...TRACE.stages, { ...TRACE.stages[0], matrices: [{ ...TRACE.stages[0].matrices[0], at: 1e6 }] }]
        }
      }),
      spoiled
    );
    for (let i = 0; i < 100 && !spoiled.querySelector('[role=alert]'); i++) {
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    expect(spoiled.querySelector('[role=alert]')!.textContent).toMatch(/numbers instead of 10000\d\d/);
  });
});

describe('tokens', () => {
  it('light up wherever they stand, and only while they are pointed at', () => {
    const nodes = ['cat', 'the', 'cat'].map(name =>
      document.body.appendChild(markToken(document.createElement('b'), name))
    );
    listen();
    listen();
    nodes[0].dispatchEvent(new Event('pointerover', { bubbles: true }));
    expect(nodes.map(node => node.classList.contains('tfk-lit'))).toEqual([true, false, true]);
    document.body.dispatchEvent(new Event('pointerover', { bubbles: true }));
    expect(document.querySelectorAll('.tfk-lit')).toHaveLength(0);
    highlightToken('a "quoted" \\ one');
    document.body.replaceChildren();
  });
});

describe('numbers', () => {
  it('are short, and their signs are signs', () => {
    expect([0.003, 0.0099, 0.01, 4e-9, -0.004].map(value => short(value))).toEqual([
      '0.003',
      '0.010',
      '0.01',
      '4e-9',
      '−0.004'
    ]); // none of them is nought
    expect([0.1234, -12.34, 1234.5, 12345, -1e9, 0, -0.0001, Infinity, NaN].map(value => short(value))).toEqual([
      '0.12',
      '−12.3',
      '1235',
      '1e+4',
      '−1e+9',
      '0.00',
      '−1e-4',
      '∞',
      'nan'
    ]);
    expect(short(50257, true)).toBe('50257');
  });
});

describe('a link', () => {
  it('brings back the place, and a damaged one nothing', () => {
    const place = { place: { stage: 3, row: 2 } };
    const root = document.body.appendChild(document.createElement('div'));
    root.id = 'view-4';
    const link = linkTo(root.appendChild(document.createElement('div')), { trace: TRACE, ...place })!;
    expect(shownPlace('view-4', new URL(link).hash)).toEqual(place);
    expect(shownPlace('view-3', new URL(link).hash)).toEqual({});
    expect(shownPlace('view-4', '#view-4=%7Bbroken')).toEqual({});
    document.body.replaceChildren();
  });
});

describe('numbers on their colours', () => {
  type Lab = [number, number, number];
  const THEMES = readFileSync('../autograder/feedback/tokens.css', 'utf-8')
    .split(/\n\s*body\b/)
    .slice(1);
  const token = (theme: number, name: string): string =>
    (new RegExp(`${name}: (#[0-9a-f]+);`).exec(THEMES[theme]) ??
      new RegExp(`${name}: (#[0-9a-f]+);`).exec(THEMES[0])!)[1];
  const linear = (hex: string): number[] => {
    const full = hex.length === 4 ? [...hex.slice(1)].map(c => c + c).join('') : hex.slice(1);
    return [0, 2, 4]
      .map(i => parseInt(full.slice(i, i + 2), 16) / 255)
      .map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  };
  const times = (m: number[][], v: number[]): number[] => m.map(line => line.reduce((sum, x, i) => sum + x * v[i], 0));
  const TO = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005]
  ];
  const LAB = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766]
  ];
  const BACK = [
    [1, 0.3963377774, 0.2158037573],
    [1, -0.1055613458, -0.0638541728],
    [1, -0.0894841775, -1.291485548]
  ];
  const RGB = [
    [4.0767416621, -3.3077115913, 0.2309699292],
    [-1.2684380046, 2.6097574011, -0.3413193965],
    [-0.0041960863, -0.7034186147, 1.707614701]
  ];
  const oklab = (hex: string): Lab => times(LAB, times(TO, linear(hex)).map(Math.cbrt)) as Lab;
  const luminance = (lab: Lab): number => {
    const [r, g, b] = times(
      RGB,
      times(BACK, lab).map(x => x ** 3)
    ).map(x => Math.min(1, Math.max(0, x)));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a: number, b: number): number => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

  it.each([0, 1, 2, 3, 4, 5])('can be read in every theme (%d)', theme => {
    for (const shares of [true, false]) {
      for (let i = -100; i <= 100; i++) {
        const { colour, ink } = cellColour(i / 100, 1, shares);
        const [, to, part, from] = /var\((.*?)\) (\d+)%, var\((.*?)\)/.exec(colour)!;
        const [a, b] = [oklab(token(theme, to)), oklab(token(theme, from))];
        const mixed = a.map((x, k) => (x * Number(part) + b[k] * (100 - Number(part))) / 100) as Lab;
        const read = contrast(luminance(mixed), luminance(oklab(token(theme, `--tfk-on-${ink}`))));
        expect(read, `${i} ${colour} in theme ${theme}`).toBeGreaterThan(4.49);
      }
    }
  });
});
