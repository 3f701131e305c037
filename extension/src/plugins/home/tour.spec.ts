import { nullTranslator } from '@jupyterlab/translation';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Tour, tourSteps } from './tour';

const trans = nullTranslator.load('tfkit_lab');
const ended = vi.fn();
let tour: Tour;

const title = (): string => tour.node.querySelector('h2')!.textContent;
const press = (key: string): boolean =>
  tour.node.querySelector('h2')!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
const click = (label: string): void =>
  [...tour.node.querySelectorAll('button')].find(button => button.textContent === label)!.click();
const marked = (): string[] => [...document.querySelectorAll('.tfkit-Tour-target')].map(node => node.className);

beforeEach(() => {
  ended.mockClear();
  Element.prototype.scrollIntoView = vi.fn();
  document.body.innerHTML =
    '<div class="tfkit-Home" tabindex="-1"><h1>Course</h1><button class="tfkit-Continue">Start</button>' +
    '<section class="tfkit-Tally"></section><div class="tfkit-Find"></div><nav class="tfkit-Path"><h2>Units</h2></nav></div>';
  tour = new Tour(tourSteps(trans), trans, ended);
  document.querySelector('.tfkit-Home')!.prepend(tour.node);
});

afterEach(() => document.body.replaceChildren());

describe('the tour of the home page', () => {
  it('offers itself, and takes neither focus nor a mark before it is asked to go on', () => {
    expect(title()).toBe('New here?');
    expect(marked()).toEqual([]);
    expect(document.activeElement).toBe(document.body);
  });

  it('goes through what is on the page by the arrow keys, forward and back', () => {
    press('ArrowLeft');
    expect(title()).toBe('New here?'); // there is nothing before it
    press('ArrowRight');
    expect([title(), marked()]).toEqual(['Go on here', ['tfkit-Continue tfkit-Tour-target']]);
    expect(document.activeElement).toBe(tour.node.querySelector('h2'));
    expect(tour.node.textContent).toContain('1 of 5');
    press('ArrowRight');
    expect([title(), marked()]).toEqual(['Check your answer', ['tfkit-Tally tfkit-Tour-target']]);
    press('ArrowLeft');
    expect(title()).toBe('Go on here');
    expect(ended).not.toHaveBeenCalled();
  });

  it('ends after the last step, leaves no mark, and hands the focus to the page', () => {
    click('Show me around');
    for (let i = 0; i < 4; i++) {
      click('Next');
    }
    expect(title()).toBe('Always at hand');
    click('Done');
    expect(ended).toHaveBeenCalledTimes(1);
    expect([marked(), tour.node.isConnected]).toEqual([[], false]);
    expect(document.activeElement).toBe(document.querySelector('.tfkit-Continue'));
  });

  it('ends at Escape, wherever it is, and where nobody wants it', () => {
    press('ArrowRight');
    press('Escape');
    expect([ended.mock.calls.length, marked()]).toEqual([1, []]);
    new Tour(tourSteps(trans), trans, ended).node.querySelector('button')!.click(); // “No, thank you”
    expect(ended).toHaveBeenCalledTimes(2);
  });

  it('leaves out what is not on the page, and marks again what was drawn anew', () => {
    document.querySelector('.tfkit-Tally')!.remove();
    press('ArrowRight');
    press('ArrowRight');
    expect(title()).toBe('Find anything');
    document.querySelector('.tfkit-Find')!.outerHTML = '<div class="tfkit-Find" id="new"></div>';
    tour.mark();
    expect(document.getElementById('new')!.classList.contains('tfkit-Tour-target')).toBe(true);
  });
});
