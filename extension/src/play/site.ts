/** The script of the page to play with: it draws into `.site-play` as soon as the model's file has arrived. */
import { fillIn, translateBy, translated } from '../widgets/words';
import { IPackedModel, mount } from './page';

declare global {
  // set by the model's file, which is a script: a page on disk may fetch nothing else
  var sitePlay: IPackedModel | undefined;
}

/** Fetch the model, and draw. The element names its file and has what is shown before; a page in another language than English
 * has the texts in `#play-words`. */
function start(root: HTMLElement): void {
  const script = document.createElement('script');
  script.src = root.dataset.model!;
  script.onload = (): void => {
    mount(root, globalThis.sitePlay!);
  };
  script.onerror = (): void => {
    root.textContent = translated('The model could not be loaded. Reload the page to try again.');
  };
  document.head.append(script);
}

const given = document.getElementById('play-words')?.textContent;
const words = JSON.parse(given ?? '{}') as Record<string, string>;
translateBy((english, ...values) => fillIn(words[english] ?? english, values));
document.querySelectorAll<HTMLElement>('.site-play').forEach(start);
