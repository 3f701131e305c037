/** What a screen reader says of the parts that a lesson consists of, in the order in which it comes to them. */
import { virtual } from '@guidepup/virtual-screen-reader';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { VerdictWidget } from './plugins/check/verdict';
import { CoursePanel } from './plugins/panel/panel';
import type { ExerciseState, ICourse, IExercise, IUnit } from './shared/tokens';
import { RecordedModel } from './widgets/model';
import { mount as mountPrediction } from './widgets/prediction';
import { mount as mountStepper } from './widgets/stepper';
import { mount as mountWalk } from './widgets/walk';

// the real one needs a browser
vi.mock('@jupyterlab/ui-components', () => ({
  LabIcon: class {
    element = () => document.createElement('span');
  }
}));

const trans = nullTranslator.load('tfkit_lab');
const golden = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(`../tests/extension/golden/${name}.json`, 'utf-8'));
const card = readFileSync('../tests/autograder/feedback/golden/failed.html', 'utf-8');
const WALK = `<details class="tfkit-v-walk" open><summary>Your code, line by line</summary><ol>
<li class="tfkit-v-stop"><p>✓ <b>Line 3</b>: the same as a right one’s</p><pre><code>a = x</code></pre></li>
<li class="tfkit-v-stop"><p>✗ <b>Line 4</b>: here the values part</p><pre><code>return a + 1</code></pre></li></ol></details>`;

let el: HTMLElement;
beforeEach(() => {
  Element.prototype.scrollIntoView = () => undefined;
  el = document.body.appendChild(document.createElement('main'));
});
afterEach(() => document.body.replaceChildren());

const ENDS = /^end of |^(paragraph|rowgroup|strong|code|cell)$/;

/** What is said from the first part to the last, without the ends of parts and the plain containers. */
async function spoken(last = 'end of main'): Promise<string[]> {
  await virtual.start({ container: el });
  for (let i = 0; i < 900 && (await virtual.lastSpokenPhrase()) !== last; i++) {
    await virtual.next();
  }
  const said = await virtual.spokenPhraseLog();
  await virtual.stop();
  expect(said[said.length - 1]).toBe(last);
  return said.slice(1).filter(phrase => !ENDS.test(phrase));
}

/** Those of the phrases that are expected, in the order in which they are said. */
const among = (said: string[], expected: string[]): string[] => {
  let from = 0;
  return expected.filter(phrase => {
    const at = said.indexOf(phrase, from);
    from = at < 0 ? from : at + 1;
    return at >= 0;
  });
};

it('reads the course panel: what is next, then each unit with its due date and the state of each exercise', async () => {
  const exercise = (id: string, title: string, state: ExerciseState): IExercise => ({
    id,
    title,
    state,
    score: 0,
    max_score: 1,
    points: 1,
    at: null
  });
  const unit = {
    path: '02-masks.ipynb',
    name: '02-masks',
    title: 'Masks',
    due: '2020-10-12T18:00:00+02:00',
    exercises: [
      exercise('masks.causal', 'Causal mask', 'passed'),
      exercise('masks.padding', 'Padding mask', 'failed'),
      exercise('masks.decoder', 'Decoder mask', 'not_started')
    ],
    predictions: { asked: 0, made: 0 }
  } as unknown as IUnit;
  const course = { units: [unit], track: null, error: null, refresh: vi.fn() };
  const panel = new CoursePanel(
    { ...course, changed: new Signal(course) } as unknown as ICourse,
    trans,
    vi.fn(),
    vi.fn()
  );
  el.append(panel.node);
  const due = panel.node.querySelector('.tfkit-Due')!.textContent;
  expect(due).toMatch(/^was due .*2020/);
  expect(await spoken()).toEqual([
    'region, Course',
    'heading, Course, level 2',
    'button, Home',
    'button, Refresh',
    'button, Next: Padding mask (Masks)',
    'region, Masks',
    'heading, Masks 1 of 3, level 3',
    'Masks',
    '1 of 3',
    due,
    'list',
    'listitem, level 1, position 1, set size 3',
    'button, Causal mask passed, masks.causal',
    'Causal mask',
    'passed',
    'listitem, level 1, position 2, set size 3',
    'button, Padding mask not yet right, masks.padding',
    'Padding mask',
    'not yet right',
    'listitem, level 1, position 3, set size 3',
    'button, Decoder mask not started, masks.decoder',
    'Decoder mask',
    'not started'
  ]);
});

it('reads a prediction: every field with its question, and a mask square by square', async () => {
  const questions = [
    { kind: 'number', label: 'How many are True?' },
    { kind: 'choice', label: 'May a position see itself?', options: ['yes', 'no'], several: false },
    { kind: 'mask', label: 'Which are True?', rows: ['0'], columns: ['0', '1'] }
  ];
  mountPrediction(new RecordedModel({ form: { name: '02.causal', questions }, sealed: null, problem: '' }), el);
  expect(await spoken()).toEqual([
    'form, Prediction 02.causal',
    'predict',
    '02.causal',
    'group, How many are True?',
    'How many are True?',
    'textbox, How many are True?',
    'group, May a position see itself?',
    'May a position see itself?',
    'radio, yes, not checked, position 1, set size 2',
    'yes',
    'radio, no, not checked, position 2, set size 2',
    'no',
    'group, Which are True?',
    'Which are True?',
    'table, Which are True?',
    'row, 0 1',
    'columnheader, 0',
    'columnheader, 1',
    'row, 0 · ·',
    'rowheader, 0',
    'cell, ·',
    'button, 0, not pressed',
    '·',
    'cell, ·',
    'button, 1, not pressed',
    '·',
    'alert',
    'button, Seal the prediction',
    'button, Skip, Go on without a prediction'
  ]);
});

it('says what is missing when a prediction is sealed too early, without moving what is read', async () => {
  const form = { name: '02.causal', questions: [{ kind: 'number', label: 'How many are True?' }] };
  mountPrediction(new RecordedModel({ form, sealed: null, problem: '' }), el);
  await virtual.start({ container: el });
  while (!(await virtual.lastSpokenPhrase()).startsWith('button, Seal')) {
    await virtual.next();
  }
  el.querySelector('form')!.dispatchEvent(new Event('submit', { cancelable: true }));
  await vi.waitFor(async () =>
    expect(await virtual.spokenPhraseLog()).toContain(
      'assertive: Not answered yet, or not readable: How many are True?'
    )
  );
  await virtual.stop();
});

const verdict = (html: string): void => {
  const widget = new VerdictWidget(trans, { sanitize: text => text.replace(/<style>[^]*<\/style>/, '') }, vi.fn());
  el.append(widget.node);
  widget.showVerdict({ html, status: 'failed', asked: 'button', at: 0, code: null }, false);
};

it('reads a verdict: the outcome, the sentence about the misconception, the checks, then the example as tables', async () => {
  verdict(card);
  const expected = [
    'status',
    '✗ not yet right',
    'attention.attend',
    '0 of 2',
    '✓ Right so far: purity.',
    'Your scores are divided by d.',
    'listitem, level 1, position 1, set size 2',
    '✗ values',
    '0 of 1.5',
    'What each check found',
    'The smallest example found',
    'table, q',
    'table, your answer',
    'columnheader, 0',
    'rowheader, 0',
    'cell, ✗ 0.5',
    'table, what must hold',
    'cell, ?',
    '✗ marks the wrong entries of your answer; ? marks those that have to change.'
  ];
  expect(among(await spoken(), expected)).toEqual(expected);
});

it('reads the walk to a mistake: the lines, the current one among them, and what is so at that line alone', async () => {
  verdict(WALK);
  const said = await spoken();
  const expected = [
    'Your code, line by line',
    'button, Previous line, disabled',
    'button, Next line, not disabled',
    'status',
    '1 of 2',
    'list, Lines',
    'button, 3 a = x, Line 3, current step',
    'button, 4 return a + 1, Line 4',
    'Line 3',
    ': the same as a right one’s',
    'button, Walk to the mistake'
  ];
  expect(among(said, expected)).toEqual(expected);
  expect(said).not.toContain(': here the values part');
});

it('reads the stepper: its controls with their keys, the tokens, the next one, the attention and the beam as tables', async () => {
  mountStepper(new RecordedModel({ trace: golden('beam'), step: 0, layer: 0, head: 0 }), el);
  await vi.waitFor(() => expect(el.textContent).toContain('attends most to'));
  const expected = [
    'group, Decoding stepper',
    'heading, beam: the black cat sleeps, level 3',
    'toolbar, Steps, orientated horizontally',
    'button, Step back, Step back (Left arrow), disabled',
    'button, Step forward, Step forward (Right arrow), not disabled',
    'slider, Step, orientated horizontally, max value 5, min value 0, current value step 1 of 6',
    'combobox, Layer, 0, has popup listbox, not expanded',
    'list, Source',
    'list, Tokens so far',
    'listitem, level 1, current step, position 2, set size 2',
    'heading, Next token, level 4',
    'table, Most probable next tokens',
    'rowheader, dort (chosen)',
    'cell, 0.321',
    'heading, Attention to the source, level 4',
    'image, Attention to the source, layer 1 head 1: “<s>” attends most to “cat” (position 2, weight 0.84)',
    'heading, Beam, level 4',
    'image, Hypotheses up to step 1; the table below lists them',
    'table, Hypotheses after this step',
    'rowheader, <s> dort',
    'status',
    'Step 1 of 6: chose dort'
  ];
  expect(among(await spoken(), expected)).toEqual(expected);
});

it('reads a walk through one step: the stages, the open one, its numbers with the names of rows and columns', async () => {
  mountWalk(new RecordedModel({ trace: golden('pictures/walk'), place: {} }), el);
  await vi.waitFor(() => expect(el.querySelector('.tfk-walk-row li')).not.toBeNull());
  const expected = [
    'group, Walk through one step',
    'heading, One step, level 3',
    'button, Next stage, not disabled',
    'group, Head',
    'button, 1, pressed',
    'list, Stages',
    'button, layer 1: mask',
    'button, layer 1: softmax, current step',
    'button, layer 1: mix',
    'heading, Weights that sum to 1, level 4',
    'Scores become weights: positive, and each row sums to 1.',
    'weights[., the] = 0.11',
    'heading, masked scores, level 4',
    'table, masked scores',
    'columnheader, cat',
    'rowheader, the',
    'cell, −∞',
    'rowheader, black'
  ];
  expect(among(await spoken('rowheader, black'), expected)).toEqual(expected);
});

it('reads the end of a walk: the drawn token in a table that has a name', async () => {
  mountWalk(new RecordedModel({ trace: golden('pictures/walk'), place: { stage: 99 } }), el);
  await vi.waitFor(() => expect(el.querySelector('.tfk-walk-row li')).not.toBeNull());
  const expected = [
    'button, . output: drawn token, current step',
    'table, Most probable next tokens',
    'columnheader, logit',
    'rowheader, .',
    'drawn',
    'status'
  ];
  const said = await spoken();
  expect(among(said, expected)).toEqual(expected);
  expect(said[said.length - 1]).toMatch(/^output, drawn token/);
});
