/** The actions of a view's share buttons (pictures, files, the clipboard), loaded at the first click. */
import { h } from './dom';
import { saveFile } from './file';
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

/** Saves a file through the browser; returns the message to show. */
export function save(name: string, parts: BlobPart, type: string): string {
  saveFile(name, parts, type);
  return translated('Saved');
}

/** Copies a picture to the clipboard, or saves a file if the browser refuses; returns the message to show. */
export async function copyPng(root: HTMLElement, name: string): Promise<string> {
  const png = toPng(toSvg(root));
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
    return translated('Copied');
  } catch {
    return save(`${name}.png`, await png, 'image/png');
  }
}

/** Saves the visible part of a page as a PNG picture. */
export const savePng = async (root: HTMLElement, name: string): Promise<string> =>
  save(`${name}.png`, await toPng(toSvg(root)), 'image/png');

/** Saves the visible view as an SVG drawing. */
export const saveSvg = (root: HTMLElement, name: string): string =>
  save(`${name}.svg`, new XMLSerializer().serializeToString(toSvg(root)), 'image/svg+xml');
