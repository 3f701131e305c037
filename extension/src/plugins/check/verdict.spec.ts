import { nullTranslator } from '@jupyterlab/translation';
import { expect, it, vi } from 'vitest';
import { digest, IStoredVerdict } from './storedVerdict';
import { revealCard, VerdictWidget } from './verdict';

const trans = nullTranslator.load('tfkit_lab');
const html = '<div class="tfkit-verdict"><div class="tfkit-v-box">x</div></div>';
const kept: IStoredVerdict = { html, status: 'failed', asked: 'button', at: 0, code: digest('a') };
const of = (widget: VerdictWidget): string => widget.node.querySelector('.tfkit-Of')!.textContent;

it('says which code it is about, and offers another check when that has changed', () => {
  const again = vi.fn();
  const widget = new VerdictWidget(trans, { sanitize: text => text }, again);
  widget.showVerdict(kept, false);
  expect(of(widget)).toMatch(/^Checked with the button, .*: the cells as they were then\.$/);
  expect(widget.node.querySelector('button')).toBeNull();
  widget.setStale(true);
  expect(of(widget)).toMatch(/^Out of date: the code has changed since\./);
  expect(widget.node.dataset).toMatchObject({ state: 'failed', stale: 'true' });
  widget.node.querySelector('button')!.click();
  expect(again).toHaveBeenCalledOnce();
  widget.setStale(false);
  expect(of(widget)).toMatch(/^Checked with the button/);
  widget.showRunning('x', () => undefined);
  expect([widget.kept, widget.node.dataset.stale]).toEqual([null, undefined]);
});

it('of the kernel says so, and where nobody knows which code that was', () => {
  const widget = new VerdictWidget(trans, { sanitize: text => text }, () => undefined);
  widget.showVerdict({ ...kept, asked: 'kernel' }, false);
  expect(of(widget)).toMatch(/the kernel had run\.$/);
  widget.showVerdict({ ...kept, asked: 'kernel', code: null }, false);
  expect(of(widget)).toMatch(/This cell may hold other code\.$/);
});

it('shows nothing of a notebook that was not made harmless', () => {
  const widget = new VerdictWidget(
    trans,
    { sanitize: text => text.replace(/<script>.*<\/script>/, '') },
    () => undefined
  );
  widget.showVerdict({ ...kept, html: `${html}<script>alert(1)</script>` }, false);
  expect(widget.node.querySelector('script')).toBeNull();
  expect(widget.node.querySelector('.tfkit-v-box')!.getAttribute('tabindex')).toBe('0');
});

it.each([
  [500, true],
  [900, false]
])('comes into sight if its cell is in view (cell at %d of 800)', (top, shown) => {
  const [notebook, cell, card] = [0, 1, 2].map(() => document.createElement('div'));
  const at = (from: number, to: number) => () => ({ top: from, bottom: to }) as DOMRect;
  notebook.getBoundingClientRect = at(0, 800);
  cell.getBoundingClientRect = at(top, top + 700);
  card.scrollIntoView = vi.fn();
  revealCard(notebook, cell, card);
  expect(card.scrollIntoView).toHaveBeenCalledTimes(shown ? 1 : 0);
});
