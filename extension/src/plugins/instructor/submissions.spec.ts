import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it, vi } from 'vitest';
import { separates } from './analysis';
import { dueSoon } from './needs';
import { StudentAnswer } from './student';
import { firstFailed, IAssignment, IStudent, sorted, SubmissionsTable } from './submissions';

vi.mock('@jupyterlab/ui-components', () => ({
  LabIcon: class {
    element = (): HTMLElement => document.createElement('span');
  }
}));

const trans = nullTranslator.load('tfkit_lab');
const student = (name: string, ...scores: number[]): IStudent => ({
  student: name,
  path: `autograded/${name}/02-masks/02-masks.ipynb`,
  verdicts: Object.fromEntries(
    scores.map((score, i) => [
      ['masks.causal', 'masks.padding'][i],
      { status: score === 2 ? 'passed' : 'failed', score, max_score: 2, misconception: null, reason: null }
    ])
  )
});
const ONE: IAssignment = {
  course: 'course',
  assignment: '02-masks',
  title: 'Masks',
  due: null,
  exercises: ['masks.causal', 'masks.padding'],
  titles: { 'masks.causal': 'The causal mask' },
  students: [student('ada', 2, 2), student('ben', 2, 0.5), student('chen', 0, 2)],
  commonest: []
};
const texts = (nodes: Iterable<Element>): (string | null)[] => [...nodes].map(node => node.textContent);

describe('the table of submissions', () => {
  it('is sorted by name, points or an exercise, and says by which', () => {
    const table = new SubmissionsTable(ONE, name => name, trans, vi.fn()).node;
    const names = (): (string | null)[] => texts(table.querySelectorAll('tbody th'));
    expect(names()).toEqual(['ada', 'ben', 'chen']);
    expect(texts(table.querySelectorAll('thead th'))).toEqual([
      'Student',
      'The causal mask of 2',
      'masks.padding of 2',
      'Points of 4'
    ]);
    table.querySelector<HTMLElement>('[data-sort="masks.padding"]')!.click();
    expect(names()).toEqual(['ada', 'chen', 'ben']);
    expect(table.querySelector('[aria-sort]')!.getAttribute('aria-sort')).toBe('descending');
    table.querySelector<HTMLElement>('[data-sort="masks.padding"]')!.click();
    expect(names()).toEqual(['ben', 'ada', 'chen']);
    expect(sorted(ONE, { by: 'sum', down: false }).map(one => one.student)).toEqual(['chen', 'ben', 'ada']);
    expect(texts(table.querySelectorAll('tfoot td'))).toEqual(['67 %', '67 %', '2.83']);
  });

  it('leads from a name to the first exercise that failed', () => {
    const open = vi.fn();
    const table = new SubmissionsTable(ONE, () => 'Student 2', trans, open).node;
    table.querySelectorAll<HTMLElement>('tbody th button')[1].click();
    expect(open).toHaveBeenCalledWith(ONE.students[1], 'masks.padding');
    expect(firstFailed(ONE, ONE.students[0])).toBe('masks.causal'); // all passed: the first one
    expect(table.textContent).not.toContain('ben');
  });
});

describe('the answer of a student', () => {
  it('has the card, the code and the attempts, and the last one asked for is shown', async () => {
    const found = {
      path: 'x.ipynb',
      html: '<div class="tfkit-v-box">card</div><script>alert(1)</script>',
      code: 'return mask',
      attempts: [
        {
          number: 1,
          regrade: false,
          at: '2026-01-01T10:00:00Z',
          score: 2,
          max_score: 4,
          exercises: { 'masks.causal': 0 }
        }
      ]
    };
    const answers: ((value: unknown) => void)[] = [];
    const ask = vi.fn(() => new Promise(resolve => answers.push(resolve)));
    const sanitizer = { sanitize: (dirty: string) => dirty.replace(/<script.*/, '') };
    const openNotebook = vi.fn();
    const services = { ask, sanitizer, trans, openNotebook } as never;
    const part = new StudentAnswer(services);
    const first = part.open(ONE, ONE.students[1], 'masks.padding', 'Student 2');
    const second = part.open(ONE, ONE.students[1], 'masks.causal', 'Student 2');
    answers[1](found);
    answers[0]({ ...found, code: 'too late' });
    await Promise.all([first, second]);
    expect(part.node.querySelector('h4')!.textContent).toBe('Student 2 · The causal mask');
    expect(part.node.querySelector('pre')!.textContent).toBe('return mask');
    expect(part.node.querySelector('script')).toBeNull();
    expect(texts(part.node.querySelectorAll('tbody tr > *')).slice(0, 1)).toEqual(['attempt 1']);
    expect(part.node.querySelector('tbody td:last-child')!.textContent).toBe('2 of 4');
    [...part.node.querySelectorAll('button')].find(one => one.textContent === 'Open the notebook here')!.click();
    expect(openNotebook).toHaveBeenCalledWith('x.ipynb', 'masks.causal');
  });
});

it('says in words whether a check separates', () => {
  const words = [null, 0.6, 0.1, -0.25].map(one => separates(one, trans));
  expect(words).toEqual(['all alike', 'well (0.60)', 'hardly (0.10)', 'against the rest (−0.25)']);
});

it('lists what is due next, after what was due in the last week', () => {
  const unit = (name: string, due: string): { name: string; title: string; due: string } => ({
    name,
    title: name,
    due
  });
  const units = [
    unit('old', '2026-01-01T10:00:00Z'),
    unit('late', '2026-01-12T10:00:00Z'),
    unit('next', '2026-02-01T10:00:00Z')
  ];
  expect(dueSoon(units, new Date('2026-01-15T10:00:00Z')).map(({ name }) => name)).toEqual(['late', 'next']);
});
