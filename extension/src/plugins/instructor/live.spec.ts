import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it, vi } from 'vitest';
import { ILive, IPerson, LiveClass } from './live';
import { project } from './project';

const trans = nullTranslator.load('tfkit_lab');
const MISTAKE = {
  misconception: 'no_diagonal',
  students: 2,
  sentence: 'Your mask hides each position from itself.',
  example: ['    return ones.tril(-1)']
};
const PERSON: IPerson = {
  student: null,
  exercise: 'masks.causal',
  status: 'failed',
  failed: 5,
  minutes: 20,
  ago: 0,
  stuck: true,
  misconceptions: ['no_diagonal']
};
const FOUND: ILive = {
  shared: true,
  students: 4,
  active: 3,
  stuck: 2,
  people: [PERSON],
  exercises: [
    {
      exercise: 'masks.causal',
      title: 'The causal mask',
      passed: 1,
      tried: 1,
      stuck: 2,
      here: 3,
      commonest: [MISTAKE]
    }
  ]
};
const made = (show = vi.fn(), changed = vi.fn()): LiveClass => new LiveClass(trans, changed, show);

describe('the live part of the class page', () => {
  it('counts who has passed, tries and is stuck, by the title of the exercise, with what holds them in words', () => {
    const live = made();
    live.show(FOUND);
    const row = live.node.querySelector('tbody tr')!;
    expect(row.querySelector('th')!.textContent).toBe('The causal mask');
    expect([...row.querySelectorAll('td')].slice(1, 4).map(cell => cell.textContent)).toEqual(['1', '1', '2']);
    expect(live.node.querySelector('.tfkit-Live-why span')!.textContent).toBe(`${MISTAKE.sentence} 2 students`);
    const widths = [...live.node.querySelectorAll<HTMLElement>('.tfkit-Live-bar span')].map(part => part.style.width);
    expect(widths).toEqual(['25%', '25%', '50%']);
    expect(live.facts.textContent).toContain('2 are stuck');
  });

  it("offers to show only what the course knows: a name may be a student's own words", () => {
    const live = made();
    live.show({ ...FOUND, exercises: [{ ...FOUND.exercises[0], commonest: [{ ...MISTAKE, example: [] }] }] });
    expect(live.node.querySelector('.tfkit-Live-why span')).not.toBeNull();
    expect(live.node.querySelector('.tfkit-Live-why button')).toBeNull();
  });

  it('shows a misconception to all, large, and with no name', () => {
    const show = vi.fn();
    const live = made(show);
    live.show(FOUND);
    live.node.querySelector<HTMLElement>('.tfkit-Live-why button')!.click();
    expect(show).toHaveBeenCalledWith(MISTAKE, 'The causal mask');
    const page = document.createElement('div');
    document.body.append(page);
    project(MISTAKE, 'The causal mask', trans, page);
    const dialog = page.querySelector('dialog')!;
    expect(dialog.open).toBe(true);
    expect(dialog.querySelector('h2')!.textContent).toBe(MISTAKE.sentence);
    expect(dialog.querySelector('pre')!.textContent).toBe('return ones.tril(-1)'); // without its indentation
    dialog.querySelector('button')!.click();
    expect(page.querySelector('dialog')).toBeNull();
  });

  it('asks for names and another rule only where that was chosen', () => {
    const changed = vi.fn();
    const live = made(vi.fn(), changed);
    live.show(FOUND);
    expect(live.query(false)).toBe('live?checks=3&minutes=10');
    const [checks] = live.node.querySelectorAll<HTMLInputElement>('input[type=number]');
    checks.value = '5';
    checks.dispatchEvent(new Event('change'));
    expect(live.query(true)).toBe('live?checks=5&minutes=10&names=1');
    expect(changed).toHaveBeenCalled();
  });

  it('tells who works on what, with and without names', () => {
    const live = made();
    const headings = (): (string | null)[] => [...live.people.querySelectorAll('thead th')].map(one => one.textContent);
    live.show(FOUND);
    expect(headings()).toEqual(['Exercise', 'State', 'Last check']);
    expect(live.people.textContent).toContain('5 checks failed in 20 min stuck nowYour mask hides each position');
    live.show({ ...FOUND, people: [{ ...PERSON, student: 'ben' }] });
    expect(headings()[0]).toBe('Student');
    expect(live.people.querySelector('.tfkit-Persons tbody th')!.textContent).toBe('ben');
  });

  it('says what is missing where a class has no folder, and leaves what has not changed', () => {
    const live = made();
    live.show({ ...FOUND, shared: false, students: 0, active: 0, stuck: 0, people: [], exercises: [] });
    expect(live.node.querySelector('pre')!.textContent).toContain('TFKIT_PREDICTIONS');
    expect([live.people.hidden, live.facts.hidden]).toEqual([true, true]);
    live.show(FOUND);
    const row = live.node.querySelector('tbody tr');
    live.show({ ...FOUND, active: 2 });
    expect(live.node.querySelector('tbody tr')).toBe(row);
    expect(live.facts.textContent).toContain('2 of 4 students');
  });
});
