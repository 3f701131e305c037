/** The few DOM helpers the views share. Text goes in as text nodes only, never as markup. */

type Props = Record<string, unknown>;

/** An element with properties (where it has them), attributes, and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key in node && !key.startsWith('aria')) {
      (node as unknown as Props)[key] = value;
    } else {
      node.setAttribute(key, String(value));
    }
  }
  node.append(...children);
  return node;
}

export function svg(tag: string, attributes: Props = {}, ...children: (Node | string)[]): SVGElement {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) {
    node.setAttribute(key, String(value));
  }
  node.append(...children);
  return node as SVGElement;
}

/** Icons are drawn, because fonts lack the media glyphs. */
const PATHS = {
  first: 'M3 3h2v10H3zM13 3v10L6 8z',
  back: 'M11 3v10L4 8z',
  forward: 'M5 3v10l7-5z',
  last: 'M11 3h2v10h-2zM3 3v10l7-5z'
};

export function icon(name: keyof typeof PATHS): SVGElement {
  const path = svg('path', { d: PATHS[name], fill: 'currentColor' });
  return svg('svg', { viewBox: '0 0 16 16', width: 14, height: 14, 'aria-hidden': 'true', focusable: 'false' }, path);
}

/** A token as it is shown: blanks made visible. */
export const shown = (token: string): string => token.replace(/ /g, '␣').replace(/\n/g, '↵') || '∅';
