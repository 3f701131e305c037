/** The phrases of one notebook that point, and what they light in the cells of their section. */
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { PhraseKeeper } from '../../widgets/phrases';
import { cellOfMaps, IPointer, lightIn, makeButtons, POINTING, unlightIn } from '../../widgets/pointing';
import { lightCode } from './code';
import { sectionOf } from './section';

/** Whether a heading that begins a section stands before or after a phrase in its cell. */
function headingsAround(phrase: HTMLElement): { above: boolean; below: boolean } {
  const text = phrase.closest('.jp-RenderedMarkdown');
  const headings = Array.from(text?.querySelectorAll('h1, h2') ?? []);
  const stands = (where: number): boolean => headings.some(one => phrase.compareDocumentPosition(one) & where);
  return { above: stands(Node.DOCUMENT_POSITION_PRECEDING), below: stands(Node.DOCUMENT_POSITION_FOLLOWING) };
}

export class Phrases extends PhraseKeeper {
  constructor(private readonly _panel: NotebookPanel) {
    super(_panel.content.node);
    const onPhrase = ({ target }: Event): boolean => (target as Element).closest?.(POINTING) != null;
    _panel.content.node.addEventListener('dblclick', event => onPhrase(event) && event.stopPropagation(), true); // else the notebook opens the source
    this._said.className = 'tfkit-Hidden';
    _panel.node.append(this._said);
    this._prepareTexts();
  }

  protected _light(phrase: HTMLElement, pointer: IPointer): Element[] {
    const section = this._section(phrase);
    const own = section.findIndex(({ node }) => node.contains(phrase));
    const numbered = pointer.map === null ? null : cellOfMaps(section, own);
    this._cells = pointer.table ? section.slice(own, own + 1) : section;
    return this._cells.flatMap(cell => {
      const hasLines = pointer.code && cell.model.type === 'code' && lightCode(cell, pointer.code) > 0;
      const lines = hasLines ? [cell.editorWidget?.node ?? cell.node] : [];
      return [...lines, ...(numbered === null || numbered === cell ? lightIn(cell.node, pointer) : [])];
    });
  }

  protected _putOut(): void {
    this._cells.forEach(cell => {
      unlightIn(cell.node);
      lightCode(cell, null);
    });
    this._cells = [];
  }

  protected _seen(): DOMRect {
    return this._panel.content.outerNode.getBoundingClientRect();
  }

  /** Makes buttons of the phrases in texts, whenever one is drawn: that is after its cell is ready, and again after it was edited. */
  private _prepareTexts(): void {
    const { content, context, disposed } = this._panel;
    const drawn = new MutationObserver(changes => changes.forEach(({ target }) => makeButtons(target as Element)));
    const watch = (): void => {
      if (content.isDisposed) {
        return;
      }
      content.widgets
        .filter(({ model }) => model.type === 'markdown')
        .forEach(({ node }) => {
          drawn.observe(node, { childList: true, subtree: true });
          makeButtons(node);
        });
    };
    const later = (): void => void window.setTimeout(watch); // when the new cells have their widgets
    void context.ready.then(() => {
      watch();
      const cells = content.isDisposed ? undefined : content.model?.cells;
      cells?.changed.connect(later);
      disposed.connect(() => cells?.changed.disconnect(later)); // other windows of the notebook have the same cells
    });
    disposed.connect(() => drawn.disconnect());
  }

  private _section(phrase: HTMLElement): Cell[] {
    const cells = this._panel.content.widgets;
    const index = cells.findIndex(({ node }) => node.contains(phrase));
    const read = cells.map(({ model }) => ({ type: model.type, source: model.sharedModel.getSource() }));
    const [first, last] = sectionOf(read, index, headingsAround(phrase));
    return index < 0 ? [] : cells.slice(first, last + 1);
  }

  private _cells: Cell[] = [];
}
