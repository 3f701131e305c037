/** Lights the lines of code that have a text, without changing the code. */
import type { Cell } from '@jupyterlab/cells';
import { StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView } from '@codemirror/view';

const setLit = StateEffect.define<string | null>();

const lit = StateField.define<string | null>({
  create: () => null,
  update: (text, { effects }) => {
    const set = effects.find(effect => effect.is(setLit));
    return set ? set.value : text;
  }
});

/** The starts of the lines that have a text. */
function linesWith(doc: EditorView['state']['doc'], text: string | null): number[] {
  return Array.from({ length: text ? doc.lines : 0 }, (_, i) => doc.line(i + 1))
    .filter(line => line.text.includes(text!))
    .map(({ from }) => from);
}

const LINE = Decoration.line({ class: 'tfkit-LitLine' });

const litLines = [
  lit,
  EditorView.decorations.compute([lit, 'doc'], state =>
    Decoration.set(linesWith(state.doc, state.field(lit)).map(from => LINE.range(from)))
  )
];

/** Lights the lines of an editor that have a text, or none for null; returns how many. */
export function lightLines(view: EditorView, text: string | null): number {
  const lines = linesWith(view.state.doc, text).length;
  if (view.state.field(lit, false) === undefined) {
    if (!lines) {
      return 0;
    }
    view.dispatch({ effects: StateEffect.appendConfig.of(litLines) });
  }
  view.dispatch({ effects: setLit.of(text) });
  return lines;
}

/** As `lightLines`, for a cell; nothing if it has no editor yet. */
export function lightCode(cell: Cell, text: string | null): number {
  const view = (cell.editor as { editor?: unknown } | null)?.editor; // of JupyterLab's CodeMirrorEditor
  return view instanceof EditorView ? lightLines(view, text) : 0;
}
