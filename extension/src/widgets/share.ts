/** Takes a view elsewhere: as a picture to the clipboard, as an SVG file, as a link to what it shows. */
import { h } from './dom';
import { toSvg } from './svgpicture';
import { translated } from './words';

type State = () => Record<string, unknown>;

/** What a page of views can do for them; it says so at this symbol. */
interface IShare {
  /** An address at which a view shows what it shows now. */
  link?(root: HTMLElement, state: Record<string, unknown>): string | null;
}

const PLACE = Symbol.for('@tfkit/lab:share');

const SCALE = 2; // pixels of the picture to one of the page

/** An SVG picture as PNG. */
async function toPng(svg: SVGElement): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  const canvas = h('canvas', {
    width: SCALE * Number(svg.getAttribute('width')),
    height: SCALE * Number(svg.getAttribute('height'))
  });
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png')
  );
}

function save(name: string, parts: BlobPart, type: string): void {
  const link = h('a', { href: URL.createObjectURL(new Blob([parts], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Puts a picture on the clipboard, or where a browser does not let us, into a file; says which. */
async function copyPng(root: HTMLElement, name: string): Promise<string> {
  const png = toPng(toSvg(root));
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
    return translated('Copied');
  } catch {
    save(`${name}.png`, await png, 'image/png');
    return translated('Saved');
  }
}

async function copyLink(link: string): Promise<string> {
  await navigator.clipboard.writeText(link);
  return translated('Copied');
}

/** The buttons; each says for a moment what came of it. */
export function shareBar(root: HTMLElement, title: string, state: State): HTMLElement {
  const name =
    title
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
      .toLowerCase() || 'view';
  const can = ((globalThis as Record<symbol, unknown>)[PLACE] ?? {}) as IShare;
  const button = (label: string, hint: string, act: () => Promise<string>): HTMLElement => {
    const node = h('button', { type: 'button', title: hint }, label);
    node.onclick = () => {
      const told = (words: string): void => {
        node.textContent = words;
        setTimeout(() => (node.textContent = label), 1500);
      };
      act().then(told, error => told(error instanceof Error ? error.message : String(error)));
    };
    return node;
  };
  const bar = h('span', { className: 'tfk-share', role: 'group', 'aria-label': translated('Share') });
  bar.append(button('PNG', translated('Copy as a picture'), () => copyPng(root, name)));
  bar.append(
    button('SVG', translated('Save as a drawing'), () => {
      save(`${name}.svg`, new XMLSerializer().serializeToString(toSvg(root)), 'image/svg+xml');
      return Promise.resolve(translated('Saved'));
    })
  );
  if (can.link) {
    bar.append(
      button(translated('Link'), translated('Copy a link to what is shown here'), () =>
        copyLink(can.link!(root, state()) ?? location.href)
      )
    );
  }
  return bar;
}
