/** Phrases that point on an exported page or on the site: they light maps and lines of code between two headings, as in the lab. */
import { h } from './dom';
import { PhraseKeeper } from './phrases';
import { cellOfMaps, IPointer, lightIn, makeButtons, POINTING, unlightIn } from './pointing';

const LINES = 'tfkit-lit-lines';
const HEADINGS = 'h1, h2'; // parts within a section have smaller ones
const NO_TEXT = '.tfk, .output, .site-output'; // figures and outputs: their tables and lines are not the lesson's own
const { DOCUMENT_POSITION_PRECEDING: BEFORE, DOCUMENT_POSITION_FOLLOWING: AFTER } = Node;
const CSS = `
${POINTING}{position:relative;color:inherit!important;text-decoration:underline dotted var(--tfk-accent,LinkText)!important;text-decoration-thickness:2px!important;text-underline-offset:3px;border-radius:3px;cursor:pointer}
${POINTING}:is(:hover,:focus-visible,[aria-pressed=true]){color:var(--tfk-on-lit,MarkText)!important;background:var(--tfk-lit,Mark)}
${POINTING}:is(:hover,:focus-visible,[aria-pressed=true]) code{color:inherit;background:none}
${POINTING}:focus-visible{outline:2px solid var(--tfk-accent,LinkText);outline-offset:2px}
${POINTING}[data-note]::after{content:attr(data-note);content:attr(data-note) / '';position:absolute;left:0;bottom:calc(100% + 3px);padding:1px 7px;border:1px solid currentColor;border-radius:9px;background:var(--tfk-card,Canvas);color:var(--tfk-ink,CanvasText);font-size:12px;line-height:1.4;white-space:nowrap;pointer-events:none;z-index:5}
::highlight(${LINES}){color:var(--tfk-on-lit,MarkText);background:var(--tfk-lit,Mark)}
.tfkit-points-said{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
`;

/** The elements that are in the section of a phrase: after the last heading above it, and before the first one below. */
export function sectionAround(root: Element, phrase: Element): (one: Element) => boolean {
  const headings = Array.from(root.querySelectorAll(HEADINGS));
  const stands = (one: Element, where: number): boolean => (phrase.compareDocumentPosition(one) & where) > 0;
  const first = headings.filter(one => stands(one, BEFORE)).pop();
  const last = headings.find(one => stands(one, AFTER));
  return one =>
    (!first || (first.compareDocumentPosition(one) & AFTER) > 0) &&
    (!last || (last.compareDocumentPosition(one) & BEFORE) > 0);
}

/** The lines of a block of code that have a text, as ranges: the block itself stays as it is. */
export function linesWith(block: Element, text: string): Range[] {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  const pieces: { node: Node; from: number; to: number }[] = [];
  let whole = '';
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const from = whole.length;
    whole += (node as Text).data;
    pieces.push({ node, from, to: whole.length });
  }
  let start = 0;
  return whole.split('\n').flatMap(line => {
    const [from, to] = [start, start + line.length];
    start = to + 1;
    if (!line.includes(text)) {
      return [];
    }
    const range = document.createRange();
    const [first, last] = [pieces.find(piece => piece.to > from)!, pieces.find(piece => piece.to >= to)!];
    range.setStart(first.node, from - first.from);
    range.setEnd(last.node, to - last.from);
    return [range];
  });
}

class PagePhrases extends PhraseKeeper {
  constructor(private readonly _root: HTMLElement) {
    super(_root);
    this._said.className = 'tfkit-points-said';
    _root.append(h('style', {}, CSS), this._said);
    makeButtons(_root);
  }

  protected _light(phrase: HTMLElement, pointer: IPointer): Element[] {
    const within = sectionAround(this._root, phrase);
    const found = (selector: string): HTMLElement[] =>
      Array.from(this._root.querySelectorAll<HTMLElement>(selector)).filter(within);
    const own = (selector: string): HTMLElement[] => found(selector).filter(one => !one.closest(NO_TEXT));
    const blocks = pointer.code ? own('pre') : [];
    return [
      ...this._lightLines(blocks, pointer.code ?? ''),
      ...this._lightFigures(pointer.table ? own : found, phrase, pointer)
    ];
  }

  protected _putOut(): void {
    unlightIn(this._root);
    globalThis.CSS.highlights?.delete(LINES);
  }

  protected _seen(): { top: number; bottom: number } {
    return { top: 0, bottom: window.innerHeight };
  }

  protected _reveal(lit: readonly Element[]): void {
    lit.forEach(one => one.closest('details')?.setAttribute('open', ''));
    super._reveal(lit);
  }

  private _lightLines(blocks: readonly Element[], text: string): Element[] {
    const lines = blocks.map(block => linesWith(block, text));
    if (lines.flat().length) {
      globalThis.CSS.highlights?.set(LINES, new Highlight(...lines.flat()));
    }
    return blocks.filter((_, i) => lines[i].length > 0);
  }

  private _lightFigures(found: (selector: string) => Element[], phrase: Element, pointer: IPointer): Element[] {
    if (pointer.map === null) {
      return lightIn({ querySelectorAll: found } as unknown as ParentNode, pointer);
    }
    const boxes = found('.tfk').map(figure => ({ node: figure.parentElement! }));
    const above = boxes.filter(({ node }) => phrase.compareDocumentPosition(node) & BEFORE).length;
    const numbered = cellOfMaps(boxes, above);
    return numbered ? lightIn(numbered.node, pointer) : [];
  }
}

/** Makes the phrases below an element point, once the figures on its page are drawn. */
export const start = (root: HTMLElement): void => void new PagePhrases(root);
