/** What the buttons of a view do, loaded when one is pressed for the first time: pictures, files, the clipboard. */
import { h } from './dom';
import { toSvg } from './svgpicture';
import { translated } from './words';

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

/** Hands a file to the browser; says so. */
export function save(name: string, parts: BlobPart, type: string): string {
  const link = h('a', { href: URL.createObjectURL(new Blob([parts], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  return translated('Saved');
}

/** Puts a picture on the clipboard, or where a browser does not let us, into a file; says which. */
export async function copyPng(root: HTMLElement, name: string): Promise<string> {
  const png = toPng(toSvg(root));
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
    return translated('Copied');
  } catch {
    return save(`${name}.png`, await png, 'image/png');
  }
}

/** Saves a view as it is seen, as a drawing that can be scaled and edited. */
export const saveSvg = (root: HTMLElement, name: string): string =>
  save(`${name}.svg`, new XMLSerializer().serializeToString(toSvg(root)), 'image/svg+xml');
