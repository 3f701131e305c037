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
  return node;
}

/** Icons are drawn, because fonts lack the media glyphs. */
const PATHS = {
  first: 'M3 3h2v10H3zM13 3v10L6 8z',
  back: 'M11 3v10L4 8z',
  forward: 'M5 3v10l7-5z',
  last: 'M11 3h2v10h-2zM3 3v10l7-5z',
  play: 'M4 2v12l10-6z',
  pause: 'M4 3h3v10H4zM9 3h3v10H9z',
  pin: 'M8 1a4.5 4.5 0 0 0-4.5 4.5C3.5 9 8 15 8 15s4.5-6 4.5-9.5A4.5 4.5 0 0 0 8 1zm0 6.2a1.8 1.8 0 1 1 0-3.6 1.8 1.8 0 0 1 0 3.6z'
};

export function icon(name: keyof typeof PATHS): SVGElement {
  const path = svg('path', { d: PATHS[name], fill: 'currentColor' });
  return svg('svg', { viewBox: '0 0 16 16', width: 14, height: 14, 'aria-hidden': 'true', focusable: 'false' }, path);
}

/** A table's head row; a column without a name has no heading. */
export function tableHead(names: string[]): HTMLElement {
  const cells = names.map(name => (name ? h('th', { scope: 'col' }, name) : h('td', {})));
  return h('thead', {}, h('tr', {}, ...cells));
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc]|[\ud802\ud803\ud83a\ud83b]/;
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g; // marks that change the direction of the text after them
const [ISOLATE, POP] = ['\u2068', '\u2069'];

/** A token as it is shown: blanks and direction marks made visible, right-to-left text isolated from its neighbours. */
export function visibleToken(token: string): string {
  const visible = token
    .replace(/ /g, '␣')
    .replace(/\n/g, '↵')
    .replace(DIRECTION, mark => `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase()}⟩`);
  return (RIGHT_TO_LEFT.test(visible) ? ISOLATE + visible + POP : visible) || '∅';
}

/** The first characters of a token. */
export const clipped = (token: string, most: number): string => visibleToken(Array.from(token).slice(0, most).join(''));
