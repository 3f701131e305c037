/** Shares a view as a picture, a drawing, a standalone offline page, or a link to its current state. */
import { h } from './dom';
import type * as Sharing from './sharing';
import { translated } from './words';

type State = Record<string, unknown>;

/** What the page around a view offers for sharing, stored under this symbol. Without it a view has no such buttons. */
export interface ISharePlace {
  /** Loads the module that writes pictures and files. */
  load(): Promise<typeof Sharing>;
  /** The address of a view in its current state, or null if it has none. */
  link?(root: HTMLElement, state: State): string | null;
  /** The view as a page that needs no server. */
  page?(title: string, state: State): Promise<string>;
}

const PLACE = Symbol.for('@tfkit/lab:share');

/** Registers the page's ways of sharing. */
export function shareBy(can?: ISharePlace): void {
  (globalThis as Record<symbol, unknown>)[PLACE] = can;
}

/** The buttons; each shows its result briefly. */
export function shareBar(root: HTMLElement, title: string, state: () => State): HTMLElement {
  const name = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-') || 'view';
  const can = (globalThis as Record<symbol, unknown>)[PLACE] as ISharePlace | undefined;
  const bar = h('span', { className: 'tfk-share', role: 'group', 'aria-label': translated('Share') });
  const add = (label: string, hint: string, act: () => Promise<string>): void => {
    const node = h('button', { type: 'button', title: hint }, label);
    const showResult = (words: string): void => {
      node.textContent = words;
      setTimeout(() => (node.textContent = label), 1500);
    };
    node.onclick = () =>
      act().then(showResult, error => showResult(error instanceof Error ? error.message : String(error)));
    bar.append(node);
  };
  if (can) {
    add('PNG', translated('Copy as a picture'), async () => (await can.load()).copyPng(root, name));
    add('SVG', translated('Save as a drawing'), async () => (await can.load()).saveSvg(root, name));
  }
  if (can?.page) {
    add('HTML', translated('Save as a page that works offline'), async () => {
      const text = await can.page!(title, state());
      return (await can.load()).save(`${name}.html`, text, 'text/html');
    });
  }
  if (can?.link) {
    add(translated('Link'), translated('Copy a link to what is shown here'), async () => {
      const link = can.link!(root, state());
      await navigator.clipboard.writeText(link ?? location.href);
      return translated('Copied');
    });
  }
  return bar;
}
