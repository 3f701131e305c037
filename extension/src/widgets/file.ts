/** Files that a page saves through the browser. */
import { h } from './dom';

const KEPT_MS = 10_000; // some browsers read the content only after the click

/** Saves a file through the browser, which asks where or puts it among the downloads. */
export function saveFile(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
