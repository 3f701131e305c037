import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { describe, expect, it, vi } from 'vitest';
import { stateOf } from './answer';
import { Ask, headingOf, IAnswer, MarkingPage, titleOf, unwrapped } from './marking';
import { pointsOf } from './markform';

const trans = nullTranslator.load('tfkit_lab');
const answer = (student: string, more: Partial<IAnswer> = {}): IAnswer => ({
  student,
  text: `${student} says <b>so</b>`,
  score: null,
  waiting: true,
  comment: '',
  version: 0,
  ...more
});
const OF = { assignment: '02-masks', notebook: '02-masks', cell: 'task-too-good', kind: 'task' as const, max_score: 2 };
const BANK = [
  { id: 1, text: 'Sees the next word.', points: 1, by: 'mark scheme', used: 2 },
  { id: 2, text: 'A test.', points: 1.5, by: 'mark scheme', used: 0 }
];

async function page(given: readonly IAnswer[], meanwhile: Record<string, string> = {}) {
  const asked: [string, unknown][] = [];
  const groups = [{ label: 'next, word', answers: given }];
  const ask = vi.fn((route: string, body?: unknown) => {
    asked.push([route, body]);
    const listed = [{ course: 'my-course', questions: [{ ...OF, answers: given.length, waiting: 1 }] }];
    const opened = { ...OF, text: '## Why?\n\nSay\nwhy.', scheme: '- 1 point: x', bank: BANK, groups };
    return Promise.resolve(route === 'marking/mark' ? { meanwhile } : body ? opened : { courses: listed });
  });
  const made = new MarkingPage(ask as unknown as Ask, trans);
  Widget.attach(made, document.body);
  await made.refresh();
  return { made, asked };
}

const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

describe('the marking page', () => {
  it('shows the answers of a group without names, as text', async () => {
    const { made } = await page([answer('ada'), answer('ben')]);
    const cards = [...made.node.querySelectorAll('.tfkit-Answer')];
    expect(cards.map(card => card.querySelector('label')!.textContent)).toEqual([' Student 1', ' Student 2']);
    expect(cards[0].querySelector('b')).toBeNull();
    expect(made.node.querySelector('.tfkit-Group summary')!.textContent).toBe('2 alike answers · next, word');
    const names = made.node.querySelector<HTMLInputElement>('.tfkit-Names input')!;
    names.click();
    expect(made.node.querySelector('.tfkit-Answer label')!.textContent).toBe(' ada');
    made.dispose();
  });

  it('gives one mark to the chosen answers, with the comments and what they are worth', async () => {
    const { made, asked } = await page([answer('ada', { version: 7 }), answer('ben')]);
    made.node.querySelectorAll<HTMLInputElement>('.tfkit-Answer input')[1].click(); // ben is left out
    const [first, second] = made.node.querySelectorAll<HTMLInputElement>('.tfkit-Comment input');
    first.click();
    second.click();
    made.node.querySelector('textarea')!.value = 'Well put.';
    const give = made.node.querySelector<HTMLButtonElement>('.tfkit-mod-strong')!;
    expect(give.textContent).toBe('Give to 1 answer');
    give.click();
    await settled();
    const [, body] = asked.find(([route]) => route === 'marking/mark')!;
    expect(body).toMatchObject({
      course: 'my-course',
      cell: 'task-too-good',
      seen: { ada: 7 },
      score: 2, // not above the most
      comment: 'Sees the next word.\nA test.\nWell put.',
      chosen: [1, 2]
    });
    made.dispose();
  });

  it('asks for points before it gives a mark', async () => {
    const { made, asked } = await page([answer('ada')]);
    made.node.querySelector<HTMLButtonElement>('.tfkit-mod-strong')!.click();
    await settled();
    expect(made.node.querySelector('.tfkit-MarkForm [role=status]')!.textContent).toBe(
      'Points from 0 to 2 are needed.'
    );
    expect(asked.some(([route]) => route === 'marking/mark')).toBe(false);
    made.dispose();
  });

  it('says who marked the same answers meanwhile', async () => {
    const { made } = await page([answer('ada')], { ada: 'Eve' });
    made.node.querySelector<HTMLInputElement>('.tfkit-Comment input')!.click();
    made.node.querySelector<HTMLButtonElement>('.tfkit-mod-strong')!.click();
    await settled();
    await settled();
    expect(made.node.querySelector('[role=alert]')!.textContent).toContain('Eve marked some of these meanwhile');
    made.dispose();
  });

  it('keeps comments within the points, and says things as people do', () => {
    expect(pointsOf(BANK, 2)).toBe(2);
    expect(pointsOf([{ ...BANK[0], points: -1 }], 2)).toBe(0);
    expect(titleOf({ cell: 'check-masks-causal' })).toBe('masks causal');
    expect(headingOf('', 1, trans)).toBe('1 answer');
    expect(unwrapped('## Why?\n\nSay\nwhy.\n\n- one\n- two\nand more')).toBe('Say why.\n\n- one\n- two and more');
    expect(stateOf(answer('ada'), OF, trans)).toBe('to mark');
    expect(stateOf(answer('ada', { score: 1, waiting: false, by: 'Eve' }), OF, trans)).toBe('1 of 2, by Eve');
  });
});
