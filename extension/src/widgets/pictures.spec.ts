import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { IContributions } from '../generated/contributions';
import { IHeads } from '../generated/heads';
import { ILens } from '../generated/lens';
import { VIEWS } from '../generated/views';
import { differs, IPart, paired } from './anatomy';
import { sortGrid } from './attention';
import { layOut } from './contributions';
import { colour, IGrid, pool, rowOf, squareColour } from './grid';
import { opening, settled } from './lens';
import { hasLines } from './lines';
import { opening as matricesOpening } from './matrices';
import { RecordedModel } from './model';
import { documentShares } from './retrieval';
import { mapPalette } from './palette';
import { planThumbnails, thumbnail, thumbnails } from './thumbnails';
import { headMap } from './trace';
import { columns, valueAt } from './training';
import { translateBy } from './words';

const KINDS = Object.keys(VIEWS).filter(kind => kind !== 'decoding'); // which has a test of its own, stepper.spec.ts
// The same files that the Python side writes and validates.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const golden = (kind: string, folder = 'pictures'): any =>
  JSON.parse(readFileSync(`../tests/extension/golden/${folder}/${kind}.json`, 'utf-8'));

class Counting extends RecordedModel {
  listeners = 0;
  on(event: string, callback: () => void): void {
    this.listeners++;
    super.on(event, callback);
  }
  off(event: string, callback: () => void): void {
    this.listeners--;
    super.off(event, callback);
  }
}

async function shownIn(
  kind: string,
  trace = golden(kind),
  place = {}
): Promise<{ model: Counting; el: HTMLElement; off: () => void }> {
  const model = new Counting({ trace, place });
  const el = document.createElement('div');
  document.body.append(el);
  const off = VIEWS[kind](model, el);
  for (let i = 0; i < 200 && (i < 1 || el.textContent.includes('Unpacking')); i++) {
    await new Promise(resolve => setTimeout(resolve, 10)); // unpacking takes a moment
  }
  return { model, el, off };
}

const said = (el: HTMLElement): string => el.querySelector('[role=status]')!.textContent;
const press = (node: Element, key: string): boolean =>
  node.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));

/** Every word that a view shows or tells, but names of formulas. */
function ownWords(el: HTMLElement): string[] {
  el.querySelectorAll('style').forEach(node => node.remove());
  const told = [...el.querySelectorAll('*')].flatMap(node =>
    ['aria-label', 'title', 'placeholder'].map(name => node.getAttribute(name) ?? '')
  );
  const written = [...el.querySelectorAll('*')].flatMap(node =>
    [...node.childNodes].filter(child => child instanceof Text).map(child => child.data)
  );
  return [...told, ...written].flatMap(text => text.match(/\p{L}{3,}/gu) ?? []).filter(word => !FORMULAS.has(word));
}

const FORMULAS = new Set(['log', 'exp', 'scale', 'nats']);

afterEach(() => document.body.replaceChildren());

describe.each(KINDS)('the view of %s', kind => {
  it('draws the golden trace, and says so', async () => {
    const { el } = await shownIn(kind);
    expect(el.querySelector('h3')!.textContent).toBe(golden(kind).title);
    expect(said(el)).not.toBe('');
    expect(el.querySelector('[role=alert]')).toBeNull();
  });

  it('says nothing of its own but in the language of the reader', async () => {
    const known = JSON.stringify(golden(kind)).toLowerCase();
    translateBy((_, ...values) => ['§', ...values].join(' '));
    try {
      const { el } = await shownIn(kind);
      expect(ownWords(el).filter(word => !known.includes(word.toLowerCase()))).toEqual([]);
    } finally {
      translateBy();
    }
  });

  it('tells in words what is wrong with a spoiled trace', async () => {
    const key = Object.keys(golden(kind)).pop()!;
    const { el } = await shownIn(kind, { ...golden(kind), [key]: true });
    expect(el.querySelector('[role=alert]')!.textContent).toContain(`$.${key}`);
  });

  it('leaves nothing behind', async () => {
    const { model, el, off } = await shownIn(kind);
    off();
    expect([model.listeners, el.childElementCount]).toEqual([0, 0]);
  });
});

describe('a map', () => {
  it('has a cursor that arrow keys move, for all maps at once', async () => {
    const { model, el } = await shownIn('matrices', golden('matrices'), { row: 0, col: 0 });
    const grid = el.querySelectorAll('.tfk-grid')[1];
    press(grid, 'ArrowDown');
    press(grid, 'ArrowRight');
    press(grid, 'ArrowRight');
    press(grid, 'ArrowUp');
    press(grid, 'ArrowUp');
    expect(model.get('place')).toEqual({ row: 0, col: 2 });
    expect(said(el)).toBe('causal: query 0 “the”, key 2 “cat”: no; with padding: query 0 “the”, key 2 “cat”: no');
  });

  it('opens in the middle, at the strongest of a row', async () => {
    expect(matricesOpening({ rows: 5, cols: 3, at: (r, c) => (r === 2 && c === 1 ? -9 : 1) })).toEqual({
      row: 2,
      col: 1
    });
    const { el } = await shownIn('matrices');
    expect(said(el)).toMatch(/^causal: query 4 “.+”, key 4 “.+”: yes/); // of nine
  });

  it('has its row as a table', async () => {
    const { el } = await shownIn('matrices', golden('matrices'), { row: 2 });
    const cells = [...el.querySelectorAll('section')[0].querySelectorAll('tbody td')].map(cell => cell.textContent);
    expect(cells).toEqual(['yes', 'yes', 'yes', ...new Array(6).fill('no')]);
  });

  it('keeps a spike when it is too large for the screen', () => {
    const at = (r: number, c: number): number => (r === 431 && c === 77 ? -1 : 0.001);
    const small = pool({ rows: 1000, cols: 1000, at }, 100);
    expect([small.rows, small.cols, small.by]).toEqual([100, 100, 10]);
    expect(small.from(43, 7)).toBe(431077);
    expect(small.from(43, 8)).toBe(430080);
    const map = { name: '', rows: 1000, cols: 1000, low: -1, high: 1, kind: 'signed' as const, at };
    expect(rowOf(map, 431, 3)[0]).toEqual([77, -1]);
  });

  it.each([2, 12, 16, 24])('fits the thumbnails of %i heads side by side', heads => {
    const map = { layers: 1, heads, rows: 12, cols: 12, triangle: false, data: '' };
    const bytes = new Uint8Array(heads * 144);
    const row = thumbnails(
      { map, bytes, kinds: null },
      0,
      'layer 1',
      () => planThumbnails(map),
      () => undefined
    );
    expect(row.querySelector('canvas')!.width).toBeLessThanOrEqual(720);
    expect(row.querySelectorAll('button').length).toBe(heads);
  });

  it('keeps the same strongest squares as a thumbnail, sorted or not', () => {
    const [rows, cols] = [150, 170];
    const map = { layers: 1, heads: 2, rows, cols, triangle: false, data: '' };
    const bytes = Uint8Array.from({ length: 2 * rows * cols }, (_, i) => (i * 7919) % 251);
    const backwards = { rows: [...Array(rows).keys()].reverse(), cols: [...Array(cols).keys()].reverse() };
    for (const order of [undefined, backwards]) {
      const straight = headMap(map, bytes, 0, 1);
      const at = order ? (r: number, c: number) => straight(order.rows[r], order.cols[c]) : straight;
      const [to, small] = [planThumbnails(map, order), pool({ rows, cols, at }, 56)];
      expect([to.height, to.width]).toEqual([small.rows, small.cols]);
      const [levels] = thumbnail({ map, bytes, kinds: null }, 0, 1, to);
      for (let i = 0; i < levels.length; i++) {
        const place = small.from(Math.floor(i / to.width), i % to.width);
        expect(levels[i]).toBe(Math.round(255 * at(Math.floor(place / cols), place % cols)));
      }
    }
  });

  it('grows darker with the value, whatever the hue', () => {
    const light = ([r, g, b]: number[]): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;
    for (const sign of [1, -1]) {
      const tones = [0, 0.25, 0.5, 1].map(v => light(colour(sign * v, { low: -1, high: 1, kind: 'signed' })));
      expect(tones).toEqual([...tones].sort((a, b) => b - a));
    }
    const steps = [0, 3, 9, 20, 31].map(v => light(colour(v, { low: 0, high: 31, kind: 'integer' })));
    expect(steps).toEqual([...steps].sort((a, b) => b - a));
  });

  it('is refused when its bytes are too few', async () => {
    const trace = golden('matrices');
    trace.maps[0].rows = 8;
    const { el } = await shownIn('matrices', trace);
    expect(el.textContent).toContain('81 bytes instead of 72');
  });
});

describe('attention', () => {
  it('has a button for every head', async () => {
    const { model, el } = await shownIn('attention');
    const buttons = [...el.querySelectorAll<HTMLButtonElement>('.tfk-heads button')];
    expect(buttons).toHaveLength(8);
    buttons[6].click();
    expect(model.get('place')).toEqual({ layer: 1, head: 2 });
    expect(said(el)).toContain('layers.1.attn, head 3: query 0 “the”, key 0 “the”: 1.00');
    expect(buttons.map(b => b.getAttribute('aria-pressed')).indexOf('true')).toBe(6);
  });

  it('enlarges the head that is looked at in the overview, as long as it is', async () => {
    const { model, el } = await shownIn('attention');
    const buttons = [...el.querySelectorAll<HTMLButtonElement>('.tfk-heads button')];
    const large = (): string => el.querySelector('.tfk-map h4')!.textContent;
    buttons[6].dispatchEvent(new Event('pointerover', { bubbles: true }));
    expect([large(), model.get('place')]).toEqual(['layers.1.attn, head 3', {}]);
    el.querySelector('.tfk-overview')!.parentElement!.dispatchEvent(new Event('pointerleave'));
    expect(large()).toBe('layers.0.attn, head 1');
    buttons[5].focus();
    expect(large()).toBe('layers.1.attn, head 2');
    buttons[5].blur();
    expect(large()).toBe('layers.0.attn, head 1');
  });

  it('has a line for each weight between two words, of which those of a word stand out', async () => {
    const { model, el } = await shownIn('attention', undefined, { row: 1 });
    const lines = el.querySelector<HTMLElement>('.tfk-lines')!;
    const own = (): string[] =>
      [...lines.querySelectorAll<SVGElement>('path.tfk-own')].map(({ dataset }) => `${dataset.row} ${dataset.col}`);
    const word = (side: string, at: number): Element => lines.querySelector(`[data-side=${side}][data-at="${at}"]`)!;
    expect(lines.hidden).toBe(false);
    expect(own().every(one => one.startsWith('1 '))).toBe(true);
    expect(own()).not.toEqual([]);
    word('col', 0).dispatchEvent(new Event('pointerover', { bubbles: true }));
    expect(own().every(one => one.endsWith(' 0'))).toBe(true);
    expect(own()).toContain('0 0');
    lines.dispatchEvent(new Event('pointerleave'));
    expect(own().every(one => one.startsWith('1 '))).toBe(true);
    word('col', 0).dispatchEvent(new Event('click', { bubbles: true }));
    word('row', 2).dispatchEvent(new Event('click', { bubbles: true }));
    expect(model.get('place')).toEqual({ row: 2 });
  });

  it('has no lines where words would be too many, or have no names', () => {
    const map = { rows: 24, cols: 24, at: () => 1 } as unknown as IGrid;
    const names = { rows: ['a'], cols: ['a'], axes: [] };
    expect(hasLines(map, names)).toBe(true);
    expect(hasLines({ ...map, cols: 25 }, names)).toBe(false);
    expect(hasLines({ ...map, pooled: { by: 2, rows: 80, cols: 80 } }, names)).toBe(false);
    expect(hasLines(map, { ...names, cols: [] })).toBe(false);
  });
});

describe('a pattern of attention', () => {
  const table = (el: HTMLElement): string[][] =>
    [...el.querySelectorAll('table tr')].map(row => [...row.children].map(cell => cell.textContent));

  it('names the kind of each key, in words, in the table and in the legend, and sums them up', async () => {
    const { el } = await shownIn('attention', golden('reformer', 'patterns'), { layer: 1, row: 11, col: 9 });
    const rows = table(el);
    expect(rows[0]).toEqual(['key', 'value', 'kind', 'bucket']);
    const kinds = rows.slice(1).map(row => row[2]);
    expect(new Set(kinds)).toEqual(new Set(['hidden', 'chunk', 'bucket']));
    expect(said(el)).toMatch(new RegExp(`query 11 “ran”, key 9 “the”: 0\\.\\d\\d, ${kinds[9]}$`));
    expect([...el.querySelectorAll('.tfk-swatch')].map(swatch => swatch.parentElement!.textContent)).toEqual([
      'chunk',
      'bucket'
    ]);
    const summed = [
      ...el.textContent.match(/This query \(bucket 2\): (.*?\d\.\d\d(, \w+ \d\.\d\d)*)/)![1].matchAll(/\d\.\d\d/g)
    ];
    expect(summed.reduce((sum, [share]) => sum + Number(share), 0)).toBeCloseTo(1, 1);
  });

  it('is sorted by bucket, and each key keeps its name', async () => {
    const { model, el } = await shownIn('attention', golden('reformer', 'patterns'), { layer: 1, sorted: 1 });
    const buckets = table(el)
      .slice(1)
      .map(row => Number(row[3]));
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
    const names = table(el)
      .slice(1)
      .map(row => row[0]);
    expect(names.find(name => name.startsWith('7 '))).toBe('7 “mat”');
    const box = el.querySelector<HTMLInputElement>('input[type=checkbox]')!;
    expect(box.parentElement!.textContent).toBe('Sort by bucket');
    box.click();
    expect(model.get('place')).toHaveProperty('sorted', 0);
    expect(table(el)[8][0]).toBe('7 “mat”');
  });

  it('names blocks, and adds nothing up, where it is pooled', async () => {
    const trace = golden('reformer', 'patterns');
    const map = { ...trace.maps[0], order: undefined };
    const [rows, cols] = [2 * map.rows - 1, 2 * map.cols - 1];
    const names = Array.from({ length: cols }, (_, i) => `w${i}`);
    const { el } = await shownIn(
      'attention',
      { ...trace, tokens: names, maps: [{ ...map, pooled: { by: 2, rows, cols } }] },
      { row: 99, col: 1 }
    );
    expect(said(el)).toContain(`query ${rows - 1} “w${rows - 1}”, key 2–3 “w2 … w3”: `);
    expect(el.textContent).toContain('Attention pooled 2 × 2 to keep');
    expect(el.textContent).not.toContain('This query');
    expect(el.querySelector('summary')!.textContent).toBe(`Row ${rows - 1} as a table`);
  });

  it('of an order is a triangle, once it is sorted by it', () => {
    const { maps } = golden('xlnet', 'patterns');
    const of = maps[0].order.of[0][0];
    const step = (r: number, c: number): number => Number(of[c] <= of[r]);
    const grid: IGrid = {
      name: '',
      rows: 5,
      cols: 5,
      low: 0,
      high: 1,
      kind: 'scale',
      at: step,
      groups: { names: ['', 'text'], of: step, mark: { name: 'turn', of } }
    };
    const { groups, at, order } = sortGrid(grid);
    for (let i = 0; i < 25; i++) {
      const [r, c] = [Math.floor(i / 5), i % 5];
      expect([at(r, c), groups!.of(r, c)]).toEqual(c <= r ? [1, 1] : [0, 0]);
    }
    expect(order!.rows.map(place => of[place])).toEqual([1, 2, 3, 4, 5]);
  });

  it('shows apart what may not be looked at, and what is not', () => {
    const map: IGrid = {
      name: '',
      rows: 1,
      cols: 3,
      low: 0,
      high: 1,
      kind: 'scale',
      at: (_, c) => Number(c === 2),
      groups: { names: ['hidden', 'text'], of: (_, c) => Number(c > 0) }
    };
    const [hidden, none, all] = [0, 1, 2].map(c => squareColour(map, 0, c));
    expect([hidden, all]).toEqual([mapPalette().none, mapPalette().groups[0][255]]);
    expect(none).not.toEqual(hidden);
  });

  it('is refused when its kinds are too few', async () => {
    const trace = golden('xlnet', 'patterns');
    trace.maps[0].kinds.data = golden('matrices').maps[0].data;
    const { el } = await shownIn('attention', trace);
    expect(el.textContent).toContain('81 bytes instead of 150');
  });
});

describe('curves', () => {
  it('show the least and the most of the steps in a column of pixels', () => {
    const values = Array.from({ length: 5000 }, (_, i) => (i === 1234 ? 99 : 1));
    const found = columns({ name: 'x', steps: values.map((_, i) => i), values }, 0, 4999, 100);
    expect(Math.max(...found.map(pair => pair![1]))).toBe(99);
    expect(found.filter(pair => pair![1] === 99)).toHaveLength(1);
  });

  it('have gaps where there is no value', async () => {
    const series = golden('training').series[0];
    expect([valueAt(series, 2), valueAt(series, 3), valueAt(series, 4)]).toEqual([2.5, null, 9]);
    const { el } = await shownIn('training', golden('training'), { step: 3 });
    expect(said(el)).toBe('Step 3: loss –, rate 0.2000');
    expect(el.textContent).toContain('9.000 (step 4)');
  });
});

describe('corruption', () => {
  it('is drawn again at a press, and marks what has changed', async () => {
    const { model, el } = await shownIn('corruption');
    const again = [...el.querySelectorAll('button')].find(b => b.textContent === 'Draw again')!;
    const before = said(el);
    again.click();
    expect(model.get('place')).toEqual({ draw: 1 });
    expect(said(el)).not.toBe(before);
    const { inputs, changed } = golden('corruption').objectives[0].draws[1];
    const marked = [...el.querySelectorAll('[aria-label="Input"] .tfk-now')].map(li => li.firstChild!.textContent);
    expect(marked).toEqual(inputs.filter((_: string, i: number) => changed[i]));
  });
});

describe('retrieval', () => {
  it('says who is behind a token', () => {
    const trace = golden('retrieval');
    expect(documentShares(trace, 1).reduce((a, b) => a + b)).toBeCloseTo(1, 6);
  });

  it('keeps the focus on the token that was chosen', async () => {
    const { el } = await shownIn('retrieval');
    const button = el.querySelectorAll('button')[2];
    button.focus();
    button.click();
    expect(document.activeElement!.getAttribute('aria-pressed')).toBe('true');
    expect(document.activeElement).toBe(el.querySelectorAll('button')[2]);
  });
});

describe('anatomy', () => {
  const part = (name: string, children: IPart[] = [], shape = [2]): IPart => ({
    name,
    class: 'C',
    parameters: 2,
    shapes: { w: shape },
    alike: 1,
    children
  });

  it('lays two models over one another', () => {
    const pair = paired(part('m', [part('a'), part('b')]), part('m', [part('b', [], [3]), part('c')]));
    const found = pair.children.map(p => [(p.one ?? p.other)!.name, !!p.one, !!p.other, differs(p)]);
    expect(found).toEqual([
      ['a', true, false, true],
      ['b', true, true, true],
      ['c', false, true, true]
    ]);
    expect(differs(paired(part('m', [part('a')]), part('m', [part('a')])))).toBe(false);
  });

  it('marks with signs what has changed', async () => {
    const { el } = await shownIn('anatomy');
    expect(el.textContent).toContain('≠ changed');
    expect(el.textContent).toContain('[30522, 768] → Embedding  weight [50265, 768]');
  });
});

describe('a logit lens', () => {
  const cellOf = (el: HTMLElement, row: number, col: number): HTMLElement =>
    el.querySelector<HTMLElement>(`.tfk-heat td[data-row="${row}"][data-col="${col}"]`)!;
  const lens = (): ILens => {
    const trace = golden('lens') as ILens;
    trace.cells[0][1] = { top: [0, 1, 2, 3], p: [0.4, 0.3, 0.1, 0.1], target: [0.01, 9] };
    trace.cells[1][1] = { top: [trace.targets[1]!, 0], p: [0.75, 0.2], target: [0.75, 1] };
    return trace;
  };

  it('outlines what is true, and tells of the rest', async () => {
    const trace = lens();
    const { el } = await shownIn('lens', trace, { row: 0, col: 1 });
    expect([0, 1].map(row => cellOf(el, row, 1).classList.contains('tfk-true'))).toEqual([false, true]);
    const goal = trace.vocabulary[trace.targets[1]!];
    const line = el.querySelector('.tfk-heat-goal')!; // it is not among the likeliest, and stands behind them
    expect([...line.children].slice(0, 3).map(cell => cell.textContent)).toEqual(['9', `${goal} ✓`, '0.01']);
    expect(el.querySelector('.tfk-heat-about')!.textContent).toContain(
      `p of ${goal} after each layer; it stays the most probable from layer 1 on`
    );
    expect([settled(trace, 1), settled({ ...trace, targets: trace.targets.map(() => 0) }, 1)]).toEqual([1, -1]);
  });

  it('has a cursor for keys, and tells of the cell under the pointer without moving it', async () => {
    const { model, el } = await shownIn('lens', lens(), { row: 1, col: 1 });
    const table = el.querySelector('.tfk-heat')!;
    press(table, 'ArrowUp');
    press(table, 'ArrowUp');
    press(table, 'End');
    expect(model.get('place')).toEqual({ row: 0, col: 8 });
    expect(el.querySelector('.tfk-heat-goal')).toBeNull(); // nothing is known of what follows the last token
    cellOf(el, 1, 1).dispatchEvent(new Event('pointerover', { bubbles: true }));
    expect(el.querySelector('.tfk-heat-about h4')!.textContent).toBe('layer 1 · black');
    expect(model.get('place')).toEqual({ row: 0, col: 8 });
    table.dispatchEvent(new Event('pointerleave'));
    expect(el.querySelector('.tfk-heat-about h4')!.textContent).toBe('layer 0 · .');
  });

  it('opens where the truth comes ahead, and refuses a row that is too short', async () => {
    expect(opening(lens())).toBe(1);
    const { el } = await shownIn('lens', { ...lens(), targets: [0] });
    expect(el.querySelector('[role=alert]')!.textContent).toContain('9 tokens, and not so many cells');
  });
});

describe('numbers of heads', () => {
  const trace = (): IHeads => ({ ...golden('heads'), values: [[0.1, null, -2, 0], [1, 0.5, 0, 0]] }); // prettier-ignore

  it('have a sign in colour and in words, and a list of the strongest that can be chosen', async () => {
    const { model, el } = await shownIn('heads', trace());
    expect(said(el)).toBe('layer 0, head 2: −2.00');
    const look = (row: number, col: number): string =>
      el.querySelector(`.tfk-heat td[data-row="${row}"][data-col="${col}"]`)!.className;
    expect([look(0, 2), look(1, 0), look(0, 1)].map(name => name.split(' ')[0])).toEqual([
      'tfk-n100',
      'tfk-p70',
      'tfk-none'
    ]);
    const second = el.querySelectorAll<HTMLButtonElement>('.tfk-heat-about button')[1];
    second.focus();
    second.click();
    expect(model.get('place')).toEqual({ row: 1, col: 0 });
    expect(document.activeElement!.textContent).toBe('layer 1 · 0');
  });
});

describe('contributions', () => {
  it('stand side by side within a layer, and add up', async () => {
    const trace = golden('contributions') as IContributions;
    const { bars } = layOut(trace, 0);
    expect([bars[1].x - bars[0].x, bars[2].x - bars[1].x]).toEqual([20, 13]);
    const { model, el } = await shownIn('contributions', trace, { part: 0 });
    press(el.querySelector('.tfk-bars')!, 'End');
    expect(model.get('place')).toEqual({ part: 5 });
    const whole = trace.values.reduce((sum, row) => sum + row[0], 0);
    expect(said(el)).toContain(`so far ${whole.toFixed(2)} of ${whole.toFixed(2)}`.replace(/-/g, '−'));
    el.querySelectorAll<HTMLButtonElement>('.tfk-bar button')[1].click();
    expect(model.get('place')).toEqual({ part: 5, target: 1 });
  });
});
