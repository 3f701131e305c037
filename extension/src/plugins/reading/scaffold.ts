/**
 * Hides the scaffolding of a cell that compares a prediction: the lines that fetch and compare it, and the `try` around an answer that
 * may not be written yet. The cell's source stays as it is.
 */
import { Cell } from '@jupyterlab/cells';
import { EditorState, Extension, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import { Decoration, DecorationSet, EditorView } from '@codemirror/view';
import { FETCHES } from '../../shared/cells';

/** From and to, in characters of the source. */
export type Span = readonly [number, number];

const TRY = /^try:\s*$/;
const EXCEPT = /^except NotImplementedError:/;
const IMPORT = /^from tfkit_lab\.predict import /;

/** How many brackets a line opens more than it closes. */
const depth = (line: string): number => (line.match(/[([{]/g)?.length ?? 0) - (line.match(/[)\]}]/g)?.length ?? 0);

/** The line after the statement that begins at a line: brackets may go on below. */
function endOf(lines: readonly string[], start: number): number {
  let open = 0;
  for (let i = start; i < lines.length; i++) {
    open += depth(lines[i]);
    if (open <= 0) {
      return i + 1;
    }
  }
  return lines.length;
}

/** The line after an indented block. */
function blockEnd(lines: readonly string[], start: number): number {
  const end = lines.findIndex((line, i) => i >= start && line !== '' && !/^\s/.test(line));
  return end < 0 ? lines.length : end;
}

/** The lines to hide, and those whose indentation to hide, of a cell's source. */
function hiddenLines(lines: readonly string[]): { hidden: Set<number>; dented: Set<number> } {
  const [hidden, dented] = [new Set<number>(), new Set<number>()];
  const hide = (from: number, to: number): void => lines.slice(from, to).forEach((_, i) => hidden.add(from + i));
  const guess = lines.map(line => FETCHES.exec(line)?.[1]).find(Boolean);
  lines.forEach((line, i) => {
    const end = TRY.test(line) ? blockEnd(lines, i + 1) : -1;
    if (end > 0 && EXCEPT.test(lines[end] ?? '')) {
      hide(i, i + 1);
      hide(end, blockEnd(lines, end + 1));
      lines.slice(i + 1, end).forEach((_, j) => dented.add(i + 1 + j));
    } else if (IMPORT.test(line) || FETCHES.test(line) || (guess && line.trim().startsWith(`${guess}.compare(`))) {
      hide(i, endOf(lines, i));
    }
  });
  for (let i = 0; i < lines.length && (hidden.has(i) || !lines[i].trim()); i++) {
    hidden.add(i); // blank lines at the top
  }
  for (let i = lines.length - 1; i >= 0 && (hidden.has(i) || !lines[i].trim()); i--) {
    hidden.add(i); // and at the end
  }
  return { hidden, dented };
}

/** What to hide of a cell's source; nothing where all of it would go. */
export function hiddenSpans(source: string): Span[] {
  const lines = source.split('\n');
  const { hidden, dented } = hiddenLines(lines);
  if (hidden.size === lines.length) {
    return [];
  }
  const spans: Span[] = [];
  let at = 0;
  lines.forEach((line, i) => {
    const dent = /^ {0,4}/.exec(line)![0].length;
    if (hidden.has(i)) {
      const isTail = lines.slice(i).every((_, j) => hidden.has(i + j));
      const [from, to] = isTail ? [at - 1, at + line.length] : [at, at + line.length + 1];
      const last = spans[spans.length - 1] as Span | undefined;
      if (last && last[1] >= from) {
        spans[spans.length - 1] = [last[0], to];
      } else {
        spans.push([from, to]);
      }
    } else if (dented.has(i) && dent) {
      spans.push([at, at + dent]);
    }
    at += line.length + 1;
  });
  return spans;
}

const setHiding = StateEffect.define<boolean>();

function decorate(state: EditorState): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const [from, to] of hiddenSpans(state.doc.toString())) {
    builder.add(from, to, Decoration.replace({}));
  }
  return builder.finish();
}

const hiding = StateField.define<DecorationSet>({
  create: decorate,
  update: (now, transaction) => {
    const set = transaction.effects.find(effect => effect.is(setHiding));
    if (set) {
      return set.value ? decorate(transaction.state) : Decoration.none;
    }
    return transaction.docChanged ? (now.size ? decorate(transaction.state) : now) : now;
  },
  provide: field => [
    EditorView.decorations.from(field),
    EditorView.atomicRanges.of(view => view.state.field(field, false) ?? Decoration.none)
  ]
});

const extension: Extension = hiding;

/** Hides the scaffolding of a cell's editor, or shows it; nothing happens where there is no editor yet. */
export function hideScaffold(cell: Cell, hide: boolean): void {
  const view = (cell.editor as { editor?: unknown } | null)?.editor; // of JupyterLab's CodeMirrorEditor
  if (!(view instanceof EditorView)) {
    return;
  }
  if (view.state.field(hiding, false) !== undefined) {
    view.dispatch({ effects: setHiding.of(hide) });
  } else if (hide) {
    view.dispatch({ effects: StateEffect.appendConfig.of(extension) });
  }
}
