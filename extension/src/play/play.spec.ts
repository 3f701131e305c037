import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { headToShow } from './attention';
import { EXAMPLES, IPackedModel, leftOut, mount } from './page';
import { distribution, sample } from './sampling';
import { SAMPLING } from './shown';
import { Tokenizer } from './tokenizer';
import { IPosition, Transformer } from './transformer';

interface IGolden {
  text: string;
  ids: number[];
  logits: number[];
  largest: number;
  weights: number[][][];
  lens: [number[], number[]][];
}

const PACKED: IPackedModel = JSON.parse(readFileSync('../course/lite/playground/model.json', 'utf-8'));
const GOLDEN: IGolden[] = JSON.parse(readFileSync('../tests/data/playground.json', 'utf-8'));
const tokenizer = new Tokenizer(PACKED.vocabulary);
const model = new Transformer(PACKED.config, PACKED.tensors);

const near = (found: number[], wanted: number[], most: number): void => {
  expect(found.length).toBe(wanted.length);
  expect(Math.max(...found.map((value, at) => Math.abs(value - wanted[at])))).toBeLessThan(most);
};

describe.each(GOLDEN)('of “$text”', ({ text, ids, logits, largest, weights, lens }) => {
  it('the tokens are those of the package tokenizers, and spell the text', () => {
    expect([0, ...tokenizer.encode(text)]).toEqual(ids);
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  });

  it('logits, attention and the guess after each layer are those of tfkit', () => {
    const positions = model.read(ids);
    const last = positions[positions.length - 1];
    near(Array.from(last.logits.slice(0, 64)), logits, 2e-4);
    expect(distribution(last.logits, SAMPLING)[0].token).toBe(largest);
    weights.forEach((heads, layer) => heads.forEach((row, head) => near(last.weights[layer][head], row, 1e-5)));
    lens.forEach(([shares, best], layer) => {
      near(
        positions.map(one => one.lens[layer + 1][0].p),
        shares,
        1e-4
      );
      expect(positions.map(one => one.lens[layer + 1][0].token)).toEqual(best);
    });
  });
});

describe('the tokenizer', () => {
  it('takes words of any length, and never cuts a character', () => {
    const long = 'a' + '🙂é'.repeat(70_000);
    expect(tokenizer.decode(tokenizer.encode(long))).toBe(long);
  });

  it('knows which tokens are no whole character', () => {
    const [half] = tokenizer.encode('🙂');
    expect(tokenizer.isWhole(half)).toBe(false);
    expect([0, ...tokenizer.encode('The cat')].every(id => tokenizer.isWhole(id))).toBe(true);
  });
});

describe('the model', () => {
  it('computes again what follows a change, and nothing before it', () => {
    const [first] = GOLDEN;
    const before = [...model.read([...first.ids.slice(0, 3), 300, 301])];
    const after = model.read(first.ids);
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
    expect(after[2]).toBe(before[2]);
    near(Array.from(after[after.length - 1].logits.slice(0, 64)), first.logits, 2e-4);
  });

  it('knows what its examples ask for', () => {
    const says = (text: string): string => {
      const positions = model.read([0, ...tokenizer.encode(text)]);
      return tokenizer.decode([distribution(positions[positions.length - 1].logits, SAMPLING)[0].token]);
    };
    expect(EXAMPLES.slice(0, 7).map(says)).toEqual([' Rome', ' Anna', ' cold', ' Mia', ' Saturday', ' Max', ' are']);
  });

  it('is shown by the head that looks at the likely word, or else most at any, the neighbour by half', () => {
    const tokens = ['start', 'a', ' b', ' c', ' d', ' e'];
    const first = (next: string, ...weights: number[][][]): [number, number] => {
      const last = { token: 9, weights, lens: [], logits: new Float32Array() };
      return headToShow({ tokens, positions: [...Array<IPosition>(5).fill(last), last] }, next);
    };
    expect(first('x', [[0, 0, 0.4, 0.6, 0, 0]], [[0, 0, 0, 0, 1, 0]])).toEqual([0, 0]);
    expect(
      first('x', [
        [0, 0, 0.4, 0.3, 0.3, 0],
        [0, 0, 0, 0, 1, 0]
      ])
    ).toEqual([0, 1]);
    expect(
      first(
        'x',
        [
          [1, 0, 0, 0, 0, 0],
          [0, 1, 0, 0, 0, 0]
        ],
        [[0, 0, 0.1, 0, 0, 0.9]]
      )
    ).toEqual([1, 0]);
    expect(first(' a', [[0, 0, 0.9, 0.1, 0, 0]], [[0.5, 0.3, 0, 0.2, 0, 0]])).toEqual([1, 0]);
  });
});

describe('a distribution', () => {
  const logits = Float32Array.from([0, 2, 1]);
  const shares = (sampling: Partial<typeof SAMPLING>): number[][] =>
    distribution(logits, { ...SAMPLING, ...sampling }).map(one => [one.token, Number(one.drawn.toFixed(3))]);

  it('is sharpened and flattened by the temperature, and cut by top-k and top-p', () => {
    expect(shares({})).toEqual([
      [1, 0.665],
      [2, 0.245],
      [0, 0.09]
    ]);
    expect(shares({ temperature: 0 })).toEqual([
      [1, 1],
      [2, 0],
      [0, 0]
    ]);
    expect(shares({ temperature: 2 })[0]).toEqual([1, 0.506]);
    expect(shares({ topK: 2 }).map(one => one[1])).toEqual([0.731, 0.269, 0]);
    expect(shares({ topP: 0.6 }).map(one => one[1])).toEqual([1, 0, 0]);
    expect(shares({ topP: 0.7 }).map(one => one[1])).toEqual([0.731, 0.269, 0]);
  });

  it('gives nothing to tokens that are left out, and all to the others', () => {
    const candidates = distribution(logits, SAMPLING, token => token !== 1);
    expect(candidates.map(one => one.token)).toEqual([2, 0]);
    expect(candidates[0].drawn + candidates[1].drawn).toBeCloseTo(1);
  });

  it('is drawn from where the place falls', () => {
    const candidates = distribution(logits, SAMPLING);
    expect([0, 0.66, 0.67, 0.95, 1].map(place => sample(candidates, place))).toEqual([1, 1, 2, 0, 1]);
  });
});

describe('the page', () => {
  let root: HTMLElement;
  const text = (): HTMLInputElement => root.querySelector('.play-text')!;
  const first = (): string => root.querySelector('.play-bars b')!.textContent;
  const share = (): string => root.querySelector('.play-bars li button > span:last-child')!.textContent;

  beforeEach(() => {
    vi.useFakeTimers();
    root = document.body.appendChild(document.createElement('div'));
    mount(root, PACKED);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    document.body.replaceChildren();
  });

  const type = (sentence: string): void => {
    text().value = sentence;
    text().dispatchEvent(new Event('input'));
  };

  it('draws attention, lens and next words anew while one types', () => {
    expect(first()).toBe('Rome');
    type('The opposite of hot is');
    expect(first()).toBe('cold');
    expect(root.querySelectorAll('.play-tokens li')).toHaveLength(6);
    expect(root.querySelectorAll('.play-lines path')).toHaveLength(6);
    expect(root.querySelectorAll('.play-lens tbody tr')).toHaveLength(PACKED.config.layers + 1);
    expect(root.querySelector('.play-lens tbody tr:last-child td:last-child')!.textContent).toBe('cold');
    vi.advanceTimersByTime(1000);
    expect(root.querySelector('[role=status]')!.textContent).toMatch(/^Next: cold \d+ %/);
  });

  it('redraws at once when the temperature changes', () => {
    const before = share();
    const temperature = root.querySelector<HTMLInputElement>('.play-sliders input')!;
    temperature.value = '0';
    temperature.dispatchEvent(new Event('input'));
    expect(share()).toBe('100 %');
    temperature.value = '40';
    temperature.dispatchEvent(new Event('input'));
    expect(parseFloat(share())).toBeLessThan(parseFloat(before));
    expect(temperature.getAttribute('aria-valuetext')).toBe('2.00');
    const [, topK] = root.querySelectorAll('.play-sliders input');
    expect(topK.getAttribute('aria-valuetext')).toBe('all'); // before it is moved
  });

  it('adds the word that is pressed, and writes until it is stopped', () => {
    root.querySelector<HTMLElement>('.play-bars button')!.click();
    expect(text().value).toBe('The capital of Italy is Rome');
    const write = root.querySelector<HTMLElement>('.play-write')!;
    write.click();
    vi.advanceTimersByTime(400);
    expect(text().value.length).toBeGreaterThan('The capital of Italy is Rome'.length);
    write.click();
    const now = text().value;
    vi.advanceTimersByTime(3000);
    expect(text().value).toBe(now);
  });

  it('moves from token to token and from head to head by arrow keys', () => {
    const press = (node: Element, key: string): boolean =>
      node.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    const pressed = (part: string): string =>
      root.querySelector(`${part} [aria-pressed=true]`)!.getAttribute('aria-label')!;
    press(root.querySelector('.play-tokens [aria-pressed=true]')!, 'Home');
    expect(pressed('.play-tokens')).toBe('start of the text: 100 %');
    press(root.querySelector('.play-heads button')!, 'ArrowDown');
    expect(pressed('.play-heads')).toBe('layer 2, head 1');
    const back = new KeyboardEvent('keydown', { key: 'ArrowLeft', altKey: true, bubbles: true, cancelable: true });
    root.querySelectorAll('.play-heads button')[4].dispatchEvent(back); // the browser's, to the page before
    expect([back.defaultPrevented, pressed('.play-heads')]).toEqual([false, 'layer 2, head 1']);
  });

  it('writes the guesses of the chosen word with their probabilities', () => {
    const note = (): string => root.querySelector('.play-lens .play-note')!.textContent;
    expect(note()).toMatch(/^After “is”: embedding “.+” [\d.]+ %, layer 1 “.+” [\d.]+ %, .*layer 4 “Rome” [\d.]+ %\.$/);
    root.querySelectorAll<HTMLElement>('.play-tokens button')[0].click();
    expect(note()).toMatch(/^After the start: embedding /);
  });

  it('leaves out the beginning of a long text in steps, and says so', () => {
    const counts = [48, 49, 64, 65].map(leftOut);
    expect(counts).toEqual([0, 16, 16, 32]);
    const words = 'the cat sat on the mat '.repeat(9).trim();
    const count = tokenizer.encode(words).length;
    const tokens = (): (string | null)[] =>
      [...root.querySelectorAll('.play-tokens button')].map(node => node.textContent);
    type(words);
    const before = tokens();
    expect([count, before.length]).toEqual([55, 1 + 55 - 16]);
    type(`${words} the`);
    expect(tokens()).toEqual([...before, 'the']); // so what was computed is of use
    expect(root.querySelector('.play-note')!.textContent).toBe(
      'The model reads the last 40 tokens; the 16 before them are left out.'
    );
  });

  it('writes on past the end of what it reads, until the field is full', () => {
    const pressed = root.querySelector<HTMLElement>('.play-write')!;
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const long = 'apple stone blue Max '.repeat(20).trim();
    type(long);
    pressed.click();
    vi.advanceTimersByTime(1000);
    expect(text().value.length).toBeGreaterThan(long.length);
    type('a'.repeat(998));
    pressed.click();
    vi.advanceTimersByTime(3000);
    expect([text().maxLength, text().value.length <= 1000, pressed.textContent]).toEqual([1000, true, 'Let it write']);
    const told = ['.play-note', '[role=status]'].map(part => root.querySelector(part)!.textContent);
    expect(told).toEqual(Array(2).fill('The field holds 1,000 characters: take some away to go on.'));
  });

  it('writes no half of a character, wherever the draw falls', () => {
    type('a → b');
    const positions = model.read([0, ...tokenizer.encode('a → b')]);
    const all = distribution(positions[positions.length - 1].logits, SAMPLING);
    const half = all.findIndex(one => !tokenizer.isWhole(one.token));
    const before = all.slice(0, half).reduce((sum, one) => sum + one.p, 0);
    vi.spyOn(Math, 'random').mockReturnValue(before + all[half].p / 2);
    root.querySelector<HTMLElement>('.play-write')!.click();
    vi.advanceTimersByTime(400);
    expect(text().value).toMatch(/^a → b./);
    expect(text().value).not.toContain('\uFFFD');
  });
});
