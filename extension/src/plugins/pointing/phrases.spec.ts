import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Phrases } from './phrases';

const signal = () => new Signal<object, void>({});
const MATRIX = `<table class="tfkit-v-m"><tbody><tr><th scope="row">0</th><td>a</td></tr>
  <tr><th scope="row">1</th><td>b</td></tr></tbody></table>`;

beforeEach(() => {
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 9, 9)); // all is in sight
  vi.spyOn(Element.prototype, 'scrollIntoView').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  document.body.replaceChildren();
});

/** A notebook of one section: a text, and a cell of code with an output. */
async function notebook(text: string, output = '') {
  const cell = (type: string, html: string) => {
    const node = Object.assign(document.createElement('div'), { innerHTML: html });
    return { node, model: { type, sharedModel: { getSource: () => '' } }, editor: null };
  };
  const widgets = [cell('markdown', text), cell('code', output)];
  const [node, outer] = [document.createElement('div'), document.createElement('div')];
  node.append(...widgets.map(one => one.node));
  outer.append(node);
  document.body.append(outer);
  const [changed, disposed] = [signal(), signal()];
  const content = { node, outerNode: outer, widgets, isDisposed: false, model: { cells: { changed } } };
  const panel = { node: outer, content, disposed, context: { ready: Promise.resolve() } };
  new Phrases(panel as unknown as NotebookPanel);
  await Promise.resolve();
  const [text1, code] = widgets.map(one => one.node);
  return { node, code, text: text1, content, changed, disposed, phrases: Array.from(text1.querySelectorAll('a')) };
}

const lit = (): string[] => Array.from(document.querySelectorAll('.tfkit-mod-lit'), one => one.textContent);
const over = (at: Element): boolean => at.dispatchEvent(new Event('pointerover', { bubbles: true }));
const said = (): string => document.querySelector('[role=status]')!.textContent;
const ROWS = '<a href="#show:rows=0">row 0</a> <a href="#show:rows=1">row 1</a>';

it('lights a figure that is drawn after its phrase was pressed, and one that is drawn again', async () => {
  const { code, phrases } = await notebook(ROWS);
  phrases[0].click();
  expect(phrases[0].dataset.note).toBe('nothing drawn yet');
  for (const when of ['drawn', 'drawn again']) {
    code.innerHTML = MATRIX;
    over(code);
    expect(lit(), when).toEqual(['0', 'a']);
    expect(phrases[0].dataset.note).toBeUndefined();
  }
});

it('goes back to the phrase with the focus, then to the pressed one, when the pointer leaves another', async () => {
  const { node, code, phrases } = await notebook(`${ROWS} <a href="#show:rows=0..1">both</a>`, MATRIX);
  phrases[0].click();
  phrases[1].focus();
  over(phrases[2]);
  expect(lit()).toHaveLength(4);
  over(code);
  expect(lit()).toEqual(['1', 'b']);
  over(phrases[2]);
  node.dispatchEvent(new Event('pointerleave'));
  expect(lit()).toEqual(['1', 'b']);
  phrases[1].blur();
  expect(lit()).toEqual(['0', 'a']);
});

it('keeps out what Escape has put out, though it has the focus', async () => {
  const { code, phrases } = await notebook(ROWS, MATRIX);
  phrases[1].focus();
  expect(lit()).toEqual(['1', 'b']);
  phrases[1].dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  over(code);
  expect(lit()).toEqual([]);
});

it('says what a pressed phrase cannot show, to those who do not see its note', async () => {
  const { phrases } = await notebook('<a href="#show:rows=0">row 0</a> <a href="#show:code=tril">tril</a>');
  over(phrases[0]);
  expect(said()).toBe('');
  phrases[0].click();
  expect(said()).toBe('nothing drawn yet');
  phrases[1].click();
  expect(said()).toBe('no such line to be seen yet');
  phrases[1].click();
  expect(said()).toBe('');
});

it('keeps a double click on a phrase from the notebook, which would open the source', async () => {
  const { node, text, phrases } = await notebook(`${ROWS} <em>text</em>`);
  const heard = vi.fn();
  node.addEventListener('dblclick', heard);
  phrases[0].dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
  expect(heard).not.toHaveBeenCalled();
  text.querySelector('em')!.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
  expect(heard).toHaveBeenCalledOnce();
});

it('makes buttons of the phrases in new cells, and leaves the cells when the notebook is closed', async () => {
  const { text, content, changed, disposed } = await notebook(ROWS);
  const roles = (): (string | null)[] => Array.from(text.querySelectorAll('a'), one => one.getAttribute('role'));
  expect(roles()).toEqual(['button', 'button']);
  vi.useFakeTimers();
  const later = vi.spyOn(window, 'setTimeout');
  changed.emit();
  expect(later).toHaveBeenCalledOnce();
  Object.defineProperty(content, 'widgets', { get: () => expect.fail('it has no cells any more') });
  content.isDisposed = true;
  vi.runAllTimers();
  disposed.emit();
  changed.emit();
  expect(later).toHaveBeenCalledOnce();
});
