/** Replaces the output of a check() cell whose verdict is shown as the card below the answer. */
import { Cell } from '@jupyterlab/cells';
import { TranslationBundle } from '@jupyterlab/translation';
import { PanelLayout, Widget } from '@lumino/widgets';
import { h } from '../../widgets/dom';

export class Pointer extends Widget {
  /** Folds the cell's verdict, once. */
  static under(cell: Cell, trans: TranslationBundle, go: () => void): void {
    const layout = cell.layout as PanelLayout;
    cell.addClass('tfkit-Folded');
    if (!layout.widgets.some(widget => widget instanceof Pointer)) {
      layout.addWidget(new Pointer(trans, go));
    }
  }

  /** Shows the cell's output again: it holds no verdict any more. */
  static lift(cell: Cell): void {
    cell.removeClass('tfkit-Folded');
    for (const widget of Array.from((cell.layout as PanelLayout).widgets)) {
      if (widget instanceof Pointer) {
        widget.dispose();
      }
    }
  }

  constructor(trans: TranslationBundle, go: () => void) {
    super();
    this.addClass('tfkit-Pointer');
    const button = h('button', { type: 'button', onclick: go }, trans.__('Show the verdict'));
    this.node.append(
      trans.__('The verdict is under the answer: one card for the button and for check().'),
      ' ',
      button
    );
  }
}
