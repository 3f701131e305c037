import { afterEach, expect, it } from 'vitest';
import { cellOfMaps, LIGHT, lightIn, makeButtons, pointerOf, pointerWords, selects, unlightIn } from './pointing';

afterEach(() => document.body.replaceChildren());

const put = (html: string): HTMLElement => {
  document.body.innerHTML = html;
  return document.body;
};
const point = (query: string) => pointerOf(`#show:${query}`)!;
const cells = (query: string, rows: number, cols: number): string =>
  Array.from({ length: rows }, (_, r) =>
    Array.from({ length: cols }, (_, c) => (selects(point(query), [r, c], [rows, cols]) ? '1' : '0')).join('')
  ).join(' ');

const MATRIX = `<table class="tfkit-v-m"><thead><tr><td></td><th scope="col">0</th><th scope="col">1</th></tr></thead><tbody>
  <tr><th scope="row">0</th><td>a</td><td>b</td></tr><tr><th scope="row">1</th><td>c</td><td>d</td></tr></tbody></table>`;
const lit = (): string[] => Array.from(document.querySelectorAll('.tfkit-mod-lit'), cell => cell.textContent);

it('reads rows, columns and parts of a matrix', () => {
  expect(cells('rows=1', 3, 3)).toBe('000 111 000');
  expect(cells('rows=0..1&cols=-1', 3, 3)).toBe('001 001 000');
  expect(cells('cols=0,2', 2, 3)).toBe('101 101');
  expect(cells('part=past,self', 3, 3)).toBe('100 110 111');
  expect(cells('part=future', 3, 3)).toBe('011 001 000');
  expect(cells('part=previous', 3, 3)).toBe('000 100 010');
  expect(cells('part=next', 3, 3)).toBe('010 001 000');
});

it('takes no link that says nothing, or that is not to be understood', () => {
  for (const href of [
    null,
    '#heading',
    '#show:',
    '#show:rows=x',
    '#show:part=corner',
    '#show:map=first',
    '#show:in=table'
  ]) {
    expect(pointerOf(href), String(href)).toBeNull();
  }
});

it('takes no name that every object has for a part', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__', 'valueOf']) {
    expect(pointerOf(`#show:part=${name}`), name).toBeNull();
  }
});

it('takes no list that no text has: each square of a figure would look through it', () => {
  expect(pointerOf(`#show:rows=${Array.from({ length: 32 }, (_, n) => n).join(',')}`)).not.toBeNull();
  const long = `0..1${',5'.repeat(1_000_000)}`;
  const started = performance.now();
  for (const query of [`rows=${long}`, `cols=${long}`, `part=self${',past'.repeat(1_000_000)}`]) {
    expect(pointerOf(`#show:${query}`)).toBeNull();
  }
  expect(performance.now() - started).toBeLessThan(2000);
});

it('says what it selects', () => {
  expect(pointerWords(point('rows=2'))).toBe('row 2');
  expect(pointerWords(point('map=1&cols=0..3,-1'))).toBe('map 2 of the figure, columns 0–3, the last column');
  expect(pointerWords(point('part=past,self&code=tril'))).toBe(
    'the squares left of the diagonal, the diagonal, the lines of code with “tril”'
  );
});

it('lights predictions and cards with their names, and puts them out', () => {
  const root = put(MATRIX);
  expect(lightIn(root, point('rows=1'))).toHaveLength(1);
  expect(lit()).toEqual(['1', 'c', 'd']);
  unlightIn(root);
  expect(root.querySelectorAll('[class*=tfkit-mod]')).toHaveLength(0);
  expect(lightIn(put(MATRIX), point('cols=1'))).toHaveLength(1);
  expect(lit()).toEqual(['1', 'b', 'd']); // a column has its name in the head
  put(MATRIX.replace('</thead><tbody>', '').replace('<thead>', '<tbody>')); // as a card has it
  expect(lightIn(document.body, point('cols=0'))).toHaveLength(1);
  expect(lit()).toEqual(['0', 'a', 'c']);
  expect(lightIn(put(MATRIX), point('part=self'))).toHaveLength(1);
  expect(lit()).toEqual(['a', 'd']);
});

it('does not give away an open prediction, which asks for a part of a matrix', () => {
  const root = put(`<form>${MATRIX}</form>`);
  expect(lightIn(root, point('part=past,self'))).toEqual([]);
  expect(lightIn(root, point('rows=0'))).toHaveLength(1);
});

it('tells the maps of figures what to light: the one that is meant, or all', () => {
  const root = put(
    `<div class="tfk"><section class="tfk-map"></section><section class="tfk-map"></section></div>${MATRIX}`
  );
  const heard: [number, unknown][] = [];
  root
    .querySelectorAll('.tfk-map')
    .forEach((map, i) => map.addEventListener(LIGHT, event => heard.push([i, (event as CustomEvent).detail])));
  expect(lightIn(root, point('map=1&rows=0'))).toHaveLength(1);
  expect(heard).toEqual([[1, { rows: [[0, 0]], cols: [], parts: [] }]]);
  expect(lightIn(root, point('rows=0'))).toHaveLength(3);
  unlightIn(root);
  expect(heard.slice(-2)).toEqual([
    [0, null],
    [1, null]
  ]);
});

it('means by the number of a map the last figure above the phrase, else the first below', () => {
  const cell = (name: string, html: string) => ({
    name,
    node: Object.assign(document.createElement('div'), { innerHTML: html })
  });
  const map = '<div class="tfk"><section class="tfk-map"></section></div>';
  const cells = [cell('first', map), cell('second', map), cell('text', ''), cell('card', MATRIX), cell('last', map)];
  expect(cellOfMaps(cells, 2)?.name).toBe('second');
  expect(cellOfMaps(cells.slice(2), 0)?.name).toBe('last');
  expect(cellOfMaps(cells.slice(2, 4), 0)).toBeUndefined();
});

it('lights the table of a text, whose first column has the names, and no other', () => {
  const table = `<table><thead><tr><th>position</th><th>0</th><th>1</th></tr></thead><tbody><tr><td>reads</td><td>le</td><td>chat</td></tr></tbody></table>`;
  expect(lightIn(put(table + MATRIX), point('in=table&cols=1'))).toHaveLength(1);
  expect(lit()).toEqual(['1', 'chat']);
});

it('makes buttons of links that point, and of no others', () => {
  const root = put('<a href="#show:rows=2" target="_self">row 2</a> <a href="#show:rows=x">x</a> <a href="#h">h</a>');
  makeButtons(root);
  const [first, second, third] = root.querySelectorAll('a');
  expect(first.outerHTML).toBe(
    '<a href="#show:rows=2" role="button" aria-pressed="false" aria-description="Lights up row 2">row 2</a>'
  );
  expect([second, third].map(link => link.hasAttribute('role'))).toEqual([false, false]);
});

it('lets a phrase stay pressed when its text is looked through again', () => {
  const root = put('<a href="#show:rows=1">row 1</a> <a href="#show:rows=2">row 2</a>');
  makeButtons(root);
  root.querySelector('a')!.setAttribute('aria-pressed', 'true');
  makeButtons(root);
  expect(Array.from(root.querySelectorAll('a'), link => link.getAttribute('aria-pressed'))).toEqual(['true', 'false']);
});
