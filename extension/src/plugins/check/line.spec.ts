import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { expect, it } from 'vitest';
import { IFaultLine, faultMarkIn, faultLineIn } from './line';

const card = (classes: string): Element => {
  const node = document.createElement('div');
  node.innerHTML = `<div class="${classes}"><p><b>Line 2</b>: <code>y</code> is twice as large.</p><pre><code>y = 2</code></pre></div>`;
  return node;
};
const place: IFaultLine = { line: 2, cell: null, text: 'y = 2', message: 'Line 2: y is twice as large.' };
const editor = (): EditorView =>
  new EditorView({ state: EditorState.create({ doc: 'x = 1\n  y = 2\nz = 3' }), parent: document.body });
const wrong = (view: EditorView): string[] =>
  Array.from(view.dom.querySelectorAll('.tfkit-WrongLine'), line => line.textContent);

it('finds the place in a card', () => {
  expect(faultLineIn(card('tfkit-v-line tfkit-line-2 tfkit-in-ab-1'))).toEqual({ ...place, cell: 'ab-1' });
  expect(faultLineIn(card('tfkit-v-line tfkit-line-2'))).toEqual(place);
  for (const classes of ['tfkit-v-line', 'tfkit-line-2', 'tfkit-v-line tfkit-line-x', 'tfkit-v-line tfkit-line--1']) {
    expect(faultLineIn(card(classes))).toBeNull();
  }
});

it('marks the line, says why, and forgets it as soon as the cell changes', () => {
  const view = editor();
  faultMarkIn(view, place);
  expect(wrong(view)).toEqual(['  y = 2']);
  expect(view.dom.querySelector('.tfkit-LineSign')!.getAttribute('title')).toBe(place.message);
  view.dispatch({ selection: { anchor: 1 } });
  expect(wrong(view)).toHaveLength(1);
  view.dispatch({ changes: { from: 0, insert: '#' } });
  expect(wrong(view)).toEqual([]);
  expect(view.dom.querySelector('.tfkit-LineSign')).toBeNull();
});

it('moves the mark, takes it away, and marks no line that says something else', () => {
  const view = editor();
  faultMarkIn(view, null);
  faultMarkIn(view, place);
  faultMarkIn(view, { ...place, line: 3, text: 'z = 3' });
  expect(wrong(view)).toEqual(['z = 3']);
  faultMarkIn(view, { ...place, text: 'other' });
  expect(wrong(view)).toEqual([]);
  faultMarkIn(view, { ...place, line: 9 });
  expect(wrong(view)).toEqual([]);
  faultMarkIn(view, place);
  faultMarkIn(view, null);
  expect(wrong(view)).toEqual([]);
});
