/** The visible part of a view as one SVG: boxes, texts, canvases and drawings in their places. */
import { svg } from './dom';

const SKIPPED = '.tfk-share,.tfk-sr,style,script,select,option';
const INLINED = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'font-family',
  'font-size',
  'font-weight',
  'opacity',
  'text-anchor'
];
const CLEAR = 'rgba(0, 0, 0, 0)';

type Box = Pick<DOMRect, 'left' | 'top' | 'right' | 'bottom'>;

const outside = (box: Box, of: Box): boolean =>
  box.right <= of.left || box.left >= of.right || box.bottom <= of.top || box.top >= of.bottom;

/** Draws a view with its background, without what is scrolled out of view. */
export function toSvg(root: HTMLElement): SVGElement {
  const frame = root.getBoundingClientRect();
  const [width, height] = [Math.ceil(frame.width), Math.ceil(frame.height)];
  const drawing = svg('svg', { xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}` });
  draw(root, frame, frame, drawing);
  return drawing;
}

function draw(node: Element, frame: DOMRect, seen: Box, into: SVGElement): void {
  const box = node.getBoundingClientRect();
  if (node.matches(SKIPPED) || !node.getClientRects().length || outside(box, seen)) {
    return;
  }
  const style = getComputedStyle(node);
  const at = { x: box.left - frame.left, y: box.top - frame.top, width: box.width, height: box.height };
  if (node instanceof SVGElement) {
    into.append(inlined(node, at));
    return;
  }
  if (style.visibility === 'hidden') {
    return;
  }
  ground(style, at, into);
  if (node instanceof HTMLCanvasElement) {
    into.append(
      svg('image', {
        ...at,
        href: node.toDataURL(),
        style: `image-rendering:pixelated;filter:${style.filter}`,
        preserveAspectRatio: 'none'
      })
    );
    return;
  }
  const inner =
    style.overflow === 'visible'
      ? seen
      : {
          left: Math.max(seen.left, box.left),
          top: Math.max(seen.top, box.top),
          right: Math.min(seen.right, box.right),
          bottom: Math.min(seen.bottom, box.bottom)
        };
  for (const child of node.childNodes) {
    if (child instanceof Text) {
      write(child, style, frame, inner, into);
    } else if (child instanceof Element) {
      draw(child, frame, inner, into);
    }
  }
}

function ground(style: CSSStyleDeclaration, at: Record<string, number>, into: SVGElement): void {
  const stroke =
    parseFloat(style.borderTopWidth) && style.borderTopStyle !== 'none'
      ? { stroke: style.borderTopColor, 'stroke-width': style.borderTopWidth }
      : {};
  const outlined =
    style.outlineStyle !== 'none' && parseFloat(style.outlineWidth)
      ? { stroke: style.outlineColor, 'stroke-width': style.outlineWidth }
      : {};
  const hatched = style.backgroundImage.includes('gradient');
  const fill = style.backgroundColor === CLEAR ? 'none' : style.backgroundColor;
  if (fill !== 'none' || 'stroke' in stroke || 'stroke' in outlined) {
    into.append(svg('rect', { ...at, rx: parseFloat(style.borderTopLeftRadius) || 0, fill, ...stroke, ...outlined }));
  }
  if (hatched) {
    const colour = style.getPropertyValue('--tfk-hatch').trim() || 'gray';
    into.append(svg('path', { d: `M${at.x} ${at.y + at.height}L${at.x + at.width} ${at.y}`, stroke: colour }));
  }
}

/** A copy of a drawing with its computed colours inlined. */
function inlined(node: SVGElement, at: Record<string, number>): SVGElement {
  const copy = node.cloneNode(true) as SVGElement;
  const pairs: [Element, Element][] = [[node, copy]];
  node.querySelectorAll('*').forEach((one, i) => pairs.push([one, copy.querySelectorAll('*')[i]]));
  for (const [from, to] of pairs) {
    const style = getComputedStyle(from);
    to.setAttribute('style', INLINED.map(name => `${name}:${style.getPropertyValue(name)}`).join(';'));
  }
  Object.entries(at).forEach(([name, value]) => copy.setAttribute(name, String(value)));
  return copy;
}

/** A text, one line at a time as the browser wrapped it. */
function write(text: Text, style: CSSStyleDeclaration, frame: DOMRect, seen: Box, into: SVGElement): void {
  const range = document.createRange();
  const lines: { words: string; box: DOMRect }[] = [];
  for (const word of text.data.matchAll(/\S+\s*/g)) {
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].trimEnd().length);
    const box = range.getBoundingClientRect();
    const last = lines[lines.length - 1];
    if (last && Math.abs(last.box.top - box.top) < 2) {
      last.words += word[0];
    } else if (box.width) {
      lines.push({ words: word[0], box });
    }
  }
  for (const { words, box } of lines.filter(line => !outside(line.box, seen))) {
    const at = { x: box.left - frame.left, y: box.top - frame.top + box.height * 0.78 };
    const font = { 'font-family': style.fontFamily, 'font-size': style.fontSize, 'font-weight': style.fontWeight };
    into.append(svg('text', { ...at, ...font, fill: style.color }, words.trimEnd()));
  }
}
