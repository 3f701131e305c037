import { nullTranslator } from '@jupyterlab/translation';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { IStoredVerdict } from './storedVerdict';
import { VerdictWidget } from './verdict';

const trans = nullTranslator.load('tfkit_lab');
const stop = (line: number, sign: string, code: string): string =>
  `<li class="tfkit-v-stop"><p>${sign} <b>Line ${line}</b>: told ${line}</p><pre><code>${code}</code></pre></li>`;
const stops = stop(3, '✓', 'a = x') + stop(4, '✓', 'b = a') + stop(6, '✗', 'return b');
const walk = `<details class="tfkit-v-walk"><summary>Walked</summary><ol>${stops}</ol></details>`;
const kept: IStoredVerdict = { html: '', status: 'failed', asked: 'button', at: 0, code: null };

let widget: VerdictWidget;
beforeEach(() => {
  widget = new VerdictWidget(trans, { sanitize: text => text }, () => undefined);
  document.body.append(widget.node);
  Element.prototype.scrollIntoView = () => undefined;
});
afterEach(() => widget.node.remove());

const show = (html: string): void => widget.showVerdict({ ...kept, html }, false);
const shown = (): string[] =>
  [...widget.node.querySelectorAll<HTMLElement>('.tfkit-v-stop')]
    .filter(one => !one.hidden)
    .map(one => one.textContent);
const button = (name: string): HTMLButtonElement =>
  [...widget.node.querySelectorAll('button')].find(one => one.textContent === name)!;
const press = (key: string, more: KeyboardEventInit = {}): boolean =>
  document.activeElement!.dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })
  );

it('is not offered where the card has none', () => {
  show('<div class="tfkit-verdict">x</div>');
  expect(widget.node.querySelector('.tfkit-Actions')).toBeNull();
});

it('opens from its button at the first line, and ends where the values part', () => {
  show(walk);
  const fold = widget.node.querySelector('details')!;
  expect(fold.open).toBe(false);
  button('Walk to the mistake').click();
  expect(fold.open).toBe(true);
  expect(shown()).toEqual(['✓ Line 3: told 3a = x']);
  expect(document.activeElement!.textContent).toBe('3 a = x');
  button('›').click();
  expect(shown()).toEqual(['✓ Line 4: told 4b = a']);
  button('›').click();
  button('›').click();
  expect(shown()).toEqual(['✗ Line 6: told 6return b']);
  expect(button('›').getAttribute('aria-disabled')).toBe('true');
  expect(widget.node.querySelector('[aria-current="step"]')!.textContent).toBe('6 return b');
  button('Walk to the mistake').click();
  expect(shown()).toEqual(['✓ Line 3: told 3a = x']);
});

it('goes with the arrow keys, which move the focus with it, and leaves keys of the lab alone', () => {
  show(walk);
  button('Walk to the mistake').click();
  expect(press('ArrowDown')).toBe(false);
  expect(document.activeElement!.textContent).toBe('4 b = a');
  press('End');
  expect(shown()).toEqual(['✗ Line 6: told 6return b']);
  expect(press('ArrowUp', { ctrlKey: true })).toBe(true);
  expect(press('x')).toBe(true);
  expect(shown()).toEqual(['✗ Line 6: told 6return b']);
});

it('keeps the arrow keys after a press of its buttons, and leaves those of a box that scrolls alone', () => {
  show(walk);
  button('Walk to the mistake').click();
  button('›').focus();
  button('›').click();
  expect(press('ArrowDown')).toBe(false);
  expect(shown()).toEqual(['✗ Line 6: told 6return b']);
  for (const inside of widget.node.querySelectorAll('.tfkit-Walk button, .tfkit-Walk .tfkit-v-stop')) {
    expect(inside.closest('[data-lm-suppress-shortcuts="true"]')).not.toBeNull();
  }
  const box = widget.node.querySelector<HTMLElement>('.tfkit-v-stop:not([hidden]) pre')!;
  box.tabIndex = 0;
  box.focus();
  expect(press('ArrowUp')).toBe(true);
  expect(shown()).toEqual(['✗ Line 6: told 6return b']);
});

it('says the line that it goes to and not the whole card again', () => {
  show(walk);
  button('4 b = a').click();
  expect(widget.node.querySelector('details [role=status]')!.textContent).toBe('2 of 3, ✓ Line 4: told 4');
  expect(widget.node.querySelector('details')!.getAttribute('aria-live')).toBe('off');
});
