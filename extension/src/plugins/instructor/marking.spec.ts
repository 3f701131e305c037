import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { describe, expect, it, vi } from 'vitest';
import { stateOf, titleOf } from './answer';
import { headingOf, MarkingPage } from './marking';
import { pointsOf } from './markform';
import type { Ask, IAnswer } from './protocol';

const trans = nullTranslator.load('tfkit_lab');
const answer = (student: string, more: Partial<IAnswer> = {}): IAnswer => ({
  student,
  text: `${student} says *so*`,
  html: `<p>${student} says <em>so</em></p>`,
  score: null,
  waiting: true,
  comment: '',
  version: 0,
  chosen: [],
  own: '',
  auto: null,
  verdict: null,
  ...more
});
const OF = { assignment: '02-masks', notebook: '02-masks', cell: 'task-too-good', kind: 'task' as const, max_score: 2 };
const RUBRIC = [
  { id: 1, text: 'Sees the next word.', points: 1, by: 'mark scheme', used: 2 },
  { id: 2, text: 'A test.', points: 1.5, by: 'mark scheme', used: 0 }
];

const REQUEST = {
  ...OF,
  id: 4,
  student: 'ada',
  reason: 'It <b>copies</b>.',
  at: '2026-10-12T10:00:00Z',
  sender: 'ben',
  accepted: null,
  sentence: '',
  by: '',
  answer: answer('ada', { version: 7, score: 1, waiting: false }),
  rubric: RUBRIC
};

async function page(given: readonly IAnswer[], meanwhile: object = {}, rubric: () => unknown = () => RUBRIC) {
  const asked: [string, unknown][] = [];
  const groups = given.map(one => one.text).includes('apart')
    ? given.map(one => ({ label: '', answers: [one] }))
    : [{ label: 'next, word', answers: given }];
  const ask = vi.fn((route: string, body?: unknown) => {
    asked.push([route, body]);
    const markers = { Eve: { answers: 1, waiting: 1 } };
    const questions = [{ ...OF, answers: given.length, waiting: 1, markers }];
    const listed = { courses: [{ course: 'my-course', questions, requests: 1 }], by: 'Eve' };
    const opened = { ...OF, text: '<p>Say why.</p>', scheme: '<p>x</p>', rubric: rubric(), outdated: 0, groups };
    const said: Record<string, object> = {
      'marking/mark': { meanwhile },
      'marking/rubric': { done: [], left: ['ada'] },
      'marking/requests': { requests: [REQUEST], meanwhile: {}, feedback: '' },
      'marking/shares': { markers: {} },
      'marking/history': {
        history: [{ kind: 'mark', at: '2026-10-12T10:00:00Z', by: 'Eve', text: '', student: 'ada', score: 1 }]
      },
      marking: body ? opened : listed
    };
    return Promise.resolve(said[route]);
  });
  const made = new MarkingPage(ask as unknown as Ask, trans);
  Widget.attach(made, document.body);
  await made.refresh();
  return { made, asked };
}

const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

/** A course of two questions. The answers of the one called "other" come once its reply is resolved. */
async function twoQuestions(meanwhile: object = {}) {
  const asked: [string, unknown][] = [];
  const replies = { other: [] as { resolve(): void; reject(reason: Error): void }[] };
  const questions = [OF, { ...OF, cell: 'task-other' }].map(one => ({ ...one, answers: 1, waiting: 1, markers: {} }));
  const ask = async (route: string, body?: { cell: string }): Promise<object> => {
    asked.push([route, body]);
    if (route === 'marking/mark') {
      return { meanwhile };
    }
    if (!body) {
      return { courses: [{ course: 'my-course', questions, requests: 0 }], by: 'Eve' };
    }
    if (body.cell === 'task-other') {
      await new Promise<void>((resolve, reject) => replies.other.push({ resolve, reject }));
    }
    const groups = [{ label: '', answers: [answer(body.cell === 'task-other' ? 'ben' : 'ada')] }];
    return { ...OF, cell: body.cell, text: '', scheme: '', rubric: RUBRIC, outdated: 0, groups };
  };
  const made = new MarkingPage(ask as unknown as Ask, trans);
  Widget.attach(made, document.body);
  await settled();
  return { made, asked, replies };
}

const entry = (made: MarkingPage, title: string): HTMLButtonElement =>
  [...made.node.querySelectorAll<HTMLButtonElement>('nav button')].find(one => one.textContent.startsWith(title))!;
const setPoints = (made: MarkingPage, points: string, group = 0): void => {
  made.node.querySelectorAll<HTMLInputElement>('.tfkit-Give input')[group].value = points;
};
const give = (made: MarkingPage, group = 0): void =>
  made.node.querySelectorAll<HTMLButtonElement>('.tfkit-Give button')[group].click();

/** Writes a comment for a group, and ticks an item of the rubric. */
const type = (made: MarkingPage, group: number, own: string, item?: number): void => {
  const form = made.node.querySelectorAll('.tfkit-MarkForm')[group];
  form.querySelector('textarea')!.value = own;
  if (item !== undefined) {
    form.querySelectorAll<HTMLInputElement>('.tfkit-RubricItem input')[item].click();
  }
};
const typedIn = (made: MarkingPage, group: number): { own: string; points: string; ticks: boolean[] } => {
  const form = made.node.querySelectorAll('.tfkit-MarkForm')[group];
  return {
    own: form.querySelector('textarea')!.value,
    points: form.querySelector<HTMLInputElement>('.tfkit-Give input')!.value,
    ticks: [...form.querySelectorAll<HTMLInputElement>('.tfkit-RubricItem input')].map(({ checked }) => checked)
  };
};

describe('the marking page', () => {
  it('says that it reads, until the answers are there', () => {
    const made = new MarkingPage((() => new Promise(() => undefined)) as unknown as Ask, trans);
    Widget.attach(made, document.body);
    expect(made.node.querySelector('[role=status]')!.textContent).toBe('Reading the answers…');
    made.dispose();
  });

  it('shows the answers of a group without names', async () => {
    const { made } = await page([answer('ada'), answer('ben')]);
    const cards = [...made.node.querySelectorAll('.tfkit-Answer')];
    expect(cards.map(card => card.querySelector('label')!.textContent)).toEqual([' Student 1', ' Student 2']);
    expect(cards[0].querySelector('.tfkit-Prose em')!.textContent).toBe('so');
    expect(made.node.querySelector('.tfkit-Group summary')!.textContent).toBe('2 similar answers · next, word');
    const names = made.node.querySelector<HTMLInputElement>('.tfkit-Names input')!;
    names.click();
    expect(made.node.querySelector('.tfkit-Answer label')!.textContent).toBe(' ada');
    made.dispose();
  });

  it('gives one mark to the chosen answers, with the comments and what they are worth', async () => {
    const { made, asked } = await page([answer('ada', { version: 7 }), answer('ben')]);
    made.node.querySelectorAll<HTMLInputElement>('.tfkit-Answer input')[1].click(); // ben is left out
    const [first, second] = made.node.querySelectorAll<HTMLInputElement>('.tfkit-RubricItem input');
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
      own: 'Well put.',
      chosen: [1, 2]
    });
    made.dispose();
  });

  it('asks for points before it gives a mark', async () => {
    const { made, asked } = await page([answer('ada')]);
    made.node.querySelector<HTMLButtonElement>('.tfkit-mod-strong')!.click();
    await settled();
    expect(made.node.querySelector('.tfkit-MarkForm [role=status]')!.textContent).toBe('Enter points from 0 to 2.');
    expect(asked.some(([route]) => route === 'marking/mark')).toBe(false);
    made.dispose();
  });

  it('loses neither mark where another person has marked meanwhile', async () => {
    const theirs = { ada: { by: 'Eve', score: 2, comment: 'Good.', version: 9 } };
    const { made, asked } = await page([answer('ada')], theirs);
    made.node.querySelector<HTMLInputElement>('.tfkit-RubricItem input')!.click();
    made.node.querySelector<HTMLButtonElement>('.tfkit-mod-strong')!.click();
    await settled();
    await settled();
    const card = made.node.querySelector<HTMLElement>('.tfkit-Conflict')!;
    expect(card.textContent).toContain('Student 1 · 2 of 2, by Eve: “Good.”');
    expect(card.textContent).toContain('Your mark was not saved for them: 1 / 2');
    card.querySelector('button')!.click(); // mine instead, now that theirs was seen
    await settled();
    const given = asked.filter(([route]) => route === 'marking/mark').map(([, body]) => body);
    expect(given[1]).toMatchObject({ seen: { ada: 9 }, score: 1, chosen: [1] });
    made.dispose();
  });

  it('takes digits for items, not where text is typed, and Ctrl+Enter for the mark', async () => {
    const { made, asked } = await page([answer('ada')]);
    const press = (where: HTMLElement, key: string, more: KeyboardEventInit = {}): boolean =>
      where.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
    const [first, second] = made.node.querySelectorAll<HTMLInputElement>('.tfkit-RubricItem input');
    const own = made.node.querySelector('textarea')!;
    press(own, '1');
    expect(first.checked).toBe(false);
    press(first, '2');
    expect([first.checked, second.checked]).toEqual([false, true]);
    press(own, 'Enter', { ctrlKey: true });
    await settled();
    expect(asked.find(([route]) => route === 'marking/mark')![1]).toMatchObject({ score: 1.5, chosen: [2] });
    made.dispose();
  });

  it('changes an item of the rubric in place, and says which marks stayed', async () => {
    const { made, asked } = await page([answer('ada')]);
    made.node.querySelector<HTMLButtonElement>('.tfkit-RubricItem button')!.click();
    const editor = made.node.querySelector<HTMLElement>('.tfkit-RubricEditor')!;
    editor.querySelector('input')!.value = '0.5';
    expect(editor.querySelector('button')!.textContent).toBe('Change, with 2 marks');
    editor.querySelector('button')!.click();
    await settled();
    await settled();
    expect(asked.find(([route]) => route === 'marking/rubric')![1]).toMatchObject({
      change: 1,
      text: 'Sees the next word.',
      points: 0.5
    });
    expect(made.node.querySelector('[role=alert]')!.textContent).toContain('1 mark was changed elsewhere');
    made.dispose();
  });

  it('answers a regrade request with a new mark, or a sentence', async () => {
    const { made, asked } = await page([answer('ada')]);
    const link = [...made.node.querySelectorAll('button')].find(one => one.textContent.startsWith('Regrade requests'))!;
    expect(link.textContent).toContain('1 waits');
    link.click();
    await settled();
    const card = made.node.querySelector<HTMLElement>('.tfkit-Request')!;
    expect(card.querySelector('blockquote b')).toBeNull(); // a student's words are text
    expect(card.textContent).toContain('Student 1');
    expect(card.textContent).toContain('Sent by the account ben');
    card.querySelectorAll<HTMLInputElement>('.tfkit-RubricItem input')[1].click();
    card.querySelector('textarea')!.value = 'You are right.';
    card.querySelector<HTMLButtonElement>('.tfkit-mod-strong')!.click();
    await settled();
    const sent = () => asked.filter(([route]) => route === 'marking/requests').map(([, body]) => body);
    expect(sent()[1]).toMatchObject({ request: 4, version: 7, accept: true, score: 1.5, sentence: 'You are right.' });
    await settled();
    made.node.querySelector('textarea')!.value = 'No.';
    [...made.node.querySelectorAll('button')].find(one => one.textContent === 'Decline')!.click();
    await settled();
    expect(sent()[3]).toMatchObject({ request: 4, accept: false, sentence: 'No.' });
    made.dispose();
  });

  it('shows only one’s own share, and shares evenly', async () => {
    const { made, asked } = await page([answer('ada', { marker: 'Eve' }), answer('ben', { marker: 'Otto' })]);
    const [, mine] = made.node.querySelectorAll<HTMLInputElement>('.tfkit-Names input');
    mine.click();
    expect(made.node.querySelectorAll('.tfkit-Answer').length).toBe(1);
    [...made.node.querySelectorAll('button')].find(one => one.textContent === 'Share')!.click();
    await settled();
    expect(made.node.querySelector('tbody')!.textContent).toBe('Eve0 of 1 marked1');
    made.node.querySelector<HTMLInputElement>('.tfkit-Share input')!.value = 'Eve, Otto';
    made.node.querySelector('.tfkit-Share')!.dispatchEvent(new Event('submit', { cancelable: true }));
    await settled();
    expect(asked.find(([route]) => route === 'marking/shares')![1]).toMatchObject({
      markers: ['Eve', ' Otto'],
      how: 'groups'
    });
    made.dispose();
  });

  it('shows and marks a question only once its answers are there', async () => {
    const { made, asked, replies } = await twoQuestions();
    entry(made, 'other').click();
    await settled();
    expect(made.node.querySelector('h1')!.textContent).toContain('too good');
    expect(entry(made, 'too good').getAttribute('aria-current')).toBe('true');
    setPoints(made, '1');
    give(made);
    await settled();
    expect(asked.find(([route]) => route === 'marking/mark')![1]).toMatchObject({
      cell: 'task-too-good',
      seen: { ada: 0 }
    });
    replies.other[0].resolve();
    made.dispose();
  });

  it('stays at a question if another cannot be opened, and says so', async () => {
    const { made, replies } = await twoQuestions();
    entry(made, 'other').click();
    replies.other[0].reject(new Error('The server does not answer.'));
    await settled();
    expect(made.node.querySelector('.tfkit-Marking-main > [role=alert]')!.textContent).toBe(
      'The server does not answer.'
    );
    expect(made.node.querySelector('h1')!.textContent).toContain('too good');
    expect(made.node.querySelector('.tfkit-MarkForm')).not.toBeNull();
    made.dispose();
  });

  it('ignores a reply for a question that was left meanwhile', async () => {
    const { made, replies } = await twoQuestions();
    entry(made, 'other').click();
    entry(made, 'too good').click();
    await settled();
    replies.other[0].resolve();
    await settled();
    expect(made.node.querySelector('h1')!.textContent).toContain('too good');
    made.dispose();
  });

  it('shows a conflict only at its own question', async () => {
    const theirs = { ada: { by: 'Eve', score: 2, comment: 'Good.', version: 9 } };
    const { made, replies } = await twoQuestions(theirs);
    setPoints(made, '1');
    give(made);
    await settled();
    expect(made.node.querySelector('.tfkit-Conflict')).not.toBeNull();
    entry(made, 'other').click();
    replies.other[0].resolve();
    await settled();
    expect(made.node.querySelector('h1')!.textContent).toContain('other');
    expect(made.node.querySelector('.tfkit-Conflict')).toBeNull();
    entry(made, 'too good').click();
    await settled();
    expect(made.node.querySelector('.tfkit-Conflict')).not.toBeNull();
    made.dispose();
  });

  it('keeps what is typed for the other groups when one is given its mark', async () => {
    const { made } = await page([answer('ada', { text: 'apart' }), answer('ben')]);
    type(made, 1, 'Not yet given.', 1);
    setPoints(made, '2');
    give(made);
    await settled();
    await settled();
    expect(typedIn(made, 1)).toEqual({ own: 'Not yet given.', points: '1.5', ticks: [false, true] });
    expect(typedIn(made, 0)).toEqual({ own: '', points: '', ticks: [false, false] }); // as the server has it
    made.dispose();
  });

  it('keeps what is typed, and who is left out, when names or shares are shown', async () => {
    const { made, asked } = await page([answer('ada', { marker: 'Eve' }), answer('ben', { marker: 'Otto' })]);
    type(made, 0, 'Not yet given.', 0);
    made.node.querySelector<HTMLInputElement>('.tfkit-Answer input')!.click(); // ada is left out
    for (const box of [0, 1, 1]) {
      made.node.querySelectorAll<HTMLInputElement>('.tfkit-Names input')[box].click();
    }
    expect(typedIn(made, 0)).toEqual({ own: 'Not yet given.', points: '1', ticks: [true, false] });
    expect(made.node.querySelector('.tfkit-Give button')!.textContent).toBe('Give to 1 answer');
    give(made);
    await settled();
    expect(asked.find(([route]) => route === 'marking/mark')![1]).toMatchObject({ seen: { ben: 0 }, score: 1 });
    made.dispose();
  });

  it('keeps what is typed when the rubric changes, with the points that the items are worth now', async () => {
    let rubric = RUBRIC;
    const { made } = await page([answer('ada', { text: 'apart' }), answer('ben')], {}, () => rubric);
    type(made, 1, 'Not yet given.', 0);
    type(made, 0, 'A new item.');
    rubric = [{ ...RUBRIC[0], points: 0.5 }, RUBRIC[1]];
    [...made.node.querySelectorAll('button')].find(one => one.textContent === 'Add to the rubric')!.click();
    await settled();
    expect(typedIn(made, 1)).toEqual({ own: 'Not yet given.', points: '0.5', ticks: [true, false] });
    expect(typedIn(made, 0).own).toBe(''); // it is in the rubric now
    made.dispose();
  });

  it('keeps what is typed while another question or page is shown', async () => {
    const { made, replies } = await twoQuestions();
    type(made, 0, 'Not yet given.', 0);
    entry(made, 'Share').click();
    entry(made, 'other').click();
    replies.other[0].resolve();
    await settled();
    expect(typedIn(made, 0).own).toBe('');
    entry(made, 'too good').click();
    await settled();
    expect(typedIn(made, 0)).toEqual({ own: 'Not yet given.', points: '1', ticks: [true, false] });
    made.dispose();
  });

  it('keeps items within the points, and says things as people do', () => {
    expect(pointsOf(RUBRIC, 2)).toBe(2);
    expect(pointsOf([{ ...RUBRIC[0], points: -1 }], 2)).toBe(0);
    expect(titleOf({ cell: 'check-masks-causal' })).toBe('masks causal');
    expect(headingOf('', 1, trans)).toBe('1 answer');
    expect(stateOf(answer('ada'), OF, trans)).toBe('to mark');
    expect(stateOf(answer('ada', { score: 1, waiting: false, by: 'Eve' }), OF, trans)).toBe('1 of 2, by Eve');
  });
});
