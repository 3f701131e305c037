import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { expect, it } from 'vitest';
import { lightLines } from './code';

const lit = (view: EditorView): string[] =>
  Array.from(view.dom.querySelectorAll('.tfkit-LitLine'), line => line.textContent);

it('lights the lines that have a text, follows what is typed, and puts them out', () => {
  const state = EditorState.create({ doc: 'mask = ones(3)\nmask = mask.tril()\nreturn mask' });
  const view = new EditorView({ state, parent: document.body });
  expect(lightLines(view, 'triu')).toBe(0);
  expect(lightLines(view, 'mask =')).toBe(2);
  expect(lit(view)).toEqual(['mask = ones(3)', 'mask = mask.tril()']);
  view.dispatch({ changes: { from: 0, to: 4, insert: 'seen' } });
  expect(lit(view)).toEqual(['mask = mask.tril()']);
  expect(lightLines(view, null)).toBe(0);
  expect(lit(view)).toEqual([]);
  expect(view.state.doc.toString()).toContain('seen = ones(3)'); // the code is as it was typed
});
