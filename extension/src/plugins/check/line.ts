/** The line at which an answer departs from correct ones: read from its card, and marked in the gutter of the cell until the cell changes. */
import { Cell } from '@jupyterlab/cells';
import { RangeSet, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, gutter, GutterMarker } from '@codemirror/view';

export interface IFaultLine {
  /** 1-based. */
  line: number;
  /** The cell's id, where the card has one. */
  cell: string | null;
  /** The text of the line, to verify that it is still the same. */
  text: string;
  /** What is wrong there. */
  message: string;
}

interface IMark {
  line: number;
  message: string;
}

/** The line that a card names, or null if it names none. */
export function faultLineIn(card: Element): IFaultLine | null {
  const named = card.querySelector('.tfkit-v-line');
  const after = (prefix: string): string | null =>
    Array.from(named?.classList ?? [])
      .find(name => name.startsWith(prefix))
      ?.slice(prefix.length) ?? null;
  const line = Number(after('tfkit-line-'));
  if (!named || !Number.isInteger(line) || line < 1) {
    return null;
  }
  const text = named.querySelector('pre')?.textContent ?? '';
  return { line, cell: after('tfkit-in-'), text, message: named.querySelector('p')?.textContent ?? '' };
}

class FaultSign extends GutterMarker {
  constructor(private readonly _message: string) {
    super();
  }

  eq(other: FaultSign): boolean {
    return other._message === this._message;
  }

  toDOM(): Node {
    const sign = document.createElement('span');
    sign.className = 'tfkit-LineSign';
    sign.textContent = '✗';
    sign.title = this._message; // gutters are hidden from screen readers; the card's live region has the same text
    return sign;
  }
}

const setMark = StateEffect.define<IMark | null>();

const marked = StateField.define<IMark | null>({
  create: () => null,
  update: (mark, transaction) => {
    const set = transaction.effects.find(effect => effect.is(setMark));
    return set ? set.value : transaction.docChanged ? null : mark;
  }
});

export const lineMarks = [
  marked,
  EditorView.decorations.compute([marked], state => {
    const mark = state.field(marked);
    return mark
      ? Decoration.set([Decoration.line({ class: 'tfkit-WrongLine' }).range(state.doc.line(mark.line).from)])
      : Decoration.none;
  }),
  gutter({
    class: 'tfkit-LineGutter',
    markers: view => {
      const mark = view.state.field(marked);
      return mark
        ? RangeSet.of([new FaultSign(mark.message).range(view.state.doc.line(mark.line).from)])
        : RangeSet.empty;
    }
  })
];

/** Marks a line of an editor; null removes the mark. A line whose text has changed is not marked. */
export function faultMarkIn(view: EditorView, place: IFaultLine | null): void {
  if (view.state.field(marked, false) === undefined) {
    if (!place) {
      return;
    }
    view.dispatch({ effects: StateEffect.appendConfig.of(lineMarks) });
  }
  const { doc } = view.state;
  const same = place && place.line <= doc.lines && doc.line(place.line).text.trim().startsWith(place.text);
  view.dispatch({ effects: setMark.of(same ? { line: place.line, message: place.message } : null) });
}

/** As `faultMarkIn`, for a cell; does nothing if it has no editor yet. */
export function markLine(cell: Cell, place: IFaultLine | null): void {
  const view = (cell.editor as { editor?: unknown } | null)?.editor; // of JupyterLab's CodeMirrorEditor
  if (view instanceof EditorView) {
    faultMarkIn(view, place);
  }
}
