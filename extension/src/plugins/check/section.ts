/** The link of a card to the section of the lesson that teaches its exercise. */
import { h } from '../../widgets/dom';

/** The place in a list of a notebook's texts that has the heading of a link such as `#1-·-The-mask`; -1 without one. */
export function placeOfHeading(texts: readonly string[], link: string): number {
  const wanted = decoded(link.replace(/^#/, ''));
  const exactly = texts.findIndex(text => headingsIn(text).includes(wanted));
  const number = /^\d+-·-/.exec(wanted)?.[0]; // the notebook may be in another language than the card
  return exactly >= 0 || !number
    ? exactly
    : texts.findIndex(text => headingsIn(text).some(one => one.startsWith(number)));
}

/** A card may be anybody's: a link that is none is left as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function headingsIn(markdown: string): string[] {
  return Array.from(markdown.matchAll(/^#{2,4} +(.*?)\s*$/gm), ([, title]) =>
    title.replace(/`/g, '').replace(/ /g, '-')
  );
}

/** Lets a card's link go to its heading. A link to one that the notebook does not have becomes text. */
export function bindSection(card: Element, has: (link: string) => boolean, goTo: (link: string) => void): void {
  const link = card.querySelector<HTMLAnchorElement>('.tfkit-v-section a');
  const target = link?.getAttribute('href') ?? '';
  if (!link) {
    return;
  }
  if (!has(target)) {
    link.replaceWith(h('span', {}, link.textContent ?? ''));
    return;
  }
  link.addEventListener('click', event => {
    event.preventDefault();
    goTo(target);
  });
}
