import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LIGHT } from './pointing';
import { linesWith, sectionAround, start } from './points';

const FIGURE =
  '<div><div class="tfk"><section class="tfk-map"></section><section class="tfk-map"></section></div></div>';
const PAGE = `<h1>Masks</h1><p id="before"><a href="#show:rows=1">row 1</a></p><div id="first">${FIGURE}</div>
  <h2>Both</h2><p><a href="#show:map=1&cols=0">map 1</a> <a href="#show:code=tril">the triangle</a></p>
  <details><pre>import torch\n<b>mask</b> = ones.<i>tril</i>()\nmask.triu()\nx.tril()</pre></details>
  <div id="second">${FIGURE}</div><h2>Next</h2><pre>y.tril()</pre>`;
const marked = new Map<string, Set<Range>>();

beforeEach(() => {
  marked.clear();
  vi.stubGlobal('CSS', { highlights: marked });
  vi.stubGlobal(
    'Highlight',
    class extends Set<Range> {
      constructor(...ranges: Range[]) {
        super(ranges);
      }
    }
  );
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 9, 9));
  vi.spyOn(Element.prototype, 'scrollIntoView').mockReturnValue();
  document.body.innerHTML = `<main>${PAGE}</main>`;
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  document.body.replaceChildren();
});

/** The maps that are lit, by the id of what holds their figure and their place in it. */
function lights(): string[] {
  const lit: string[] = [];
  document.querySelectorAll('.tfk-map').forEach(map =>
    map.addEventListener(LIGHT, event => {
      const place = Array.from(map.parentElement!.children).indexOf(map);
      const name = `${map.closest('[id]')!.id} ${place}`;
      lit.splice(0, lit.length, ...lit.filter(one => one !== name), ...((event as CustomEvent).detail ? [name] : []));
    })
  );
  return lit;
}

it('lights the maps of the section, or the one that a phrase numbers, and puts them out', () => {
  const lit = lights();
  start(document.querySelector('main')!);
  const [row, map] = document.querySelectorAll('a');
  expect(row.getAttribute('role')).toBe('button');
  row.dispatchEvent(new Event('pointerover', { bubbles: true }));
  expect(lit).toEqual(['first 0', 'first 1']);
  map.dispatchEvent(new Event('pointerover', { bubbles: true }));
  expect(lit).toEqual(['second 1']);
  document.querySelector('main')!.dispatchEvent(new Event('pointerleave'));
  expect(lit).toEqual([]);
});

it('marks lines of code without changing it, and unfolds them when the phrase is pressed', () => {
  start(document.querySelector('main')!);
  const phrase = document.querySelectorAll('a')[2];
  const before = document.querySelector('pre')!.innerHTML;
  phrase.click();
  const [ranges] = marked.values();
  expect(Array.from(ranges, String)).toEqual(['mask = ones.tril()', 'x.tril()']);
  expect(document.querySelector('pre')!.innerHTML).toBe(before);
  expect(document.querySelector('details')!.open).toBe(true);
  expect(phrase.getAttribute('aria-pressed')).toBe('true');
  phrase.click();
  expect(marked.size).toBe(0);
});

it('leaves out the lines of outputs, and the tables of figures and outputs', () => {
  const table = '<table><tbody><tr><td>reads</td><td>le</td><td>chat</td></tr></tbody></table>';
  document.querySelector('main')!.innerHTML =
    `<p><a href="#show:in=table&cols=1">1</a> <a href="#show:code=tril">a</a></p>
    <div id="text">${table}</div><div id="figure"><div class="tfk">${table}</div></div>
    <div class="output">${table}</div><pre class="output">tril</pre><pre>ones.tril()</pre>`;
  start(document.querySelector('main')!);
  const [cells, code] = document.querySelectorAll('a');
  cells.dispatchEvent(new Event('pointerover', { bubbles: true }));
  const lit = [...document.querySelectorAll('.tfkit-mod-lit')];
  expect(lit.map(one => [one.closest('div')!.id, one.textContent])).toEqual([['text', 'chat']]);
  code.dispatchEvent(new Event('pointerover', { bubbles: true }));
  expect([...marked.values()].flatMap(ranges => Array.from(ranges, String))).toEqual(['ones.tril()']);
});

it('finds a section between headings at any depth, and lines in any piece of code', () => {
  const main = document.querySelector('main')!;
  const within = sectionAround(main, document.querySelector('#before a')!);
  expect(['#first', '#second'].map(id => within(main.querySelector(id)!))).toEqual([true, false]);
  main.innerHTML = '<pre>a\n\n<b>b</b>\n</pre>';
  expect(linesWith(main.firstElementChild!, 'b').map(String)).toEqual(['b']);
  expect(linesWith(main.firstElementChild!, 'c')).toEqual([]);
});
