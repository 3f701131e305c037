/**
 * Highlights a token in every view of the page: all elements with the same `data-tok` light up when one of them is under the
 * pointer or has the focus. One listener serves all scripts of the page.
 */
const PLACE = Symbol.for('@tfkit/lab:lit');
const MARK = 'tfk-lit';

const key = (event: Event): string | undefined =>
  (event.target as Element).closest?.<HTMLElement>('[data-tok]')?.dataset.tok;

/** Marks an element as belonging to a token. */
export function markToken<T extends Element>(node: T, token: string): T {
  node.setAttribute('data-tok', token.trim());
  return node;
}

/** Highlights all elements of a token on the page, and no others. */
export function highlightToken(token: string | undefined, page: ParentNode = document): void {
  page
    .querySelectorAll<HTMLElement>('[data-tok]')
    .forEach(node => node.classList.toggle(MARK, !!token && node.dataset.tok === token));
}

/** Adds the listener, once per page. */
export function listen(page: Document = document): void {
  const known = page as unknown as Record<symbol, boolean>;
  if (!known[PLACE]) {
    known[PLACE] = true;
    let lit: string | undefined;
    const change = (token: string | undefined): void => {
      if (token !== lit) {
        highlightToken((lit = token), page);
      }
    };
    page.addEventListener('pointerover', event => change(key(event)));
    page.addEventListener('focusin', event => change(key(event)));
  }
}
