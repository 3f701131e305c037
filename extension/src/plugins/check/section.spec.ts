import { expect, it, vi } from 'vitest';
import { bindSection, placeOfHeading } from './section';

const texts = ['# 02 · Masks', '## 1 · The causal mask: no looking ahead\n\nIn training', '## 2 · `pad_id`, and more'];
const link = (heading: string): string => `#${encodeURIComponent(heading.replace(/ /g, '-'))}`;

it.each([
  ['1 · The causal mask: no looking ahead', 1],
  ['2 · pad_id, and more', 2],
  ['2 · Le masque', 2],
  ['3 · Another', -1],
  ['The causal mask', -1]
])('%s is in text %d', (heading, place) => {
  expect(placeOfHeading(texts, link(heading))).toBe(place);
});

it('finds no heading for a link that is none', () => {
  expect(placeOfHeading(texts, '#%E0%A4')).toBe(-1);
});

const card = (heading: string): HTMLElement => {
  const node = document.createElement('div');
  node.innerHTML = `<p class="tfkit-v-section"><a href="${link(heading)}">Read again</a></p>`;
  return node;
};

it('goes to the heading, or is no link where the notebook has none', () => {
  const goTo = vi.fn();
  const has = (target: string): boolean => placeOfHeading(texts, target) >= 0;
  const node = card('1 · The causal mask: no looking ahead');
  bindSection(node, has, goTo);
  const click = new MouseEvent('click', { cancelable: true });
  node.querySelector('a')!.dispatchEvent(click);
  expect(click.defaultPrevented).toBe(true);
  expect(goTo).toHaveBeenCalledWith(link('1 · The causal mask: no looking ahead'));
  const lost = card('9 · Elsewhere');
  bindSection(lost, has, goTo);
  expect(lost.querySelector('a')).toBeNull();
  expect(lost.textContent).toBe('Read again');
});
