/** Regrade requests of students, and the replies: a new mark or a sentence. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { writtenIn } from '../../shared/language';
import { h } from '../../widgets/dom';
import { stateOf, titleOf, written } from './answer';
import { MarkForm } from './markform';
import type { Ask, IOutcome, IRequest, IRequests, IVerdictWords } from './protocol';

/** The grader's result in one line. */
export function verdictOf({ status, misconception, reason, hint }: IVerdictWords, trans: TranslationBundle): string {
  const why = hint ?? misconception?.replace(/_/g, ' ') ?? reason;
  const state = status === 'passed' ? trans.__('passed') : trans.__('not yet right');
  return why ? `${state}: ${why}` : state;
}

/** Draws the requests of a course into `node`, and again after each answer; `changed` is called then as well. */
export async function drawRequests(
  node: HTMLElement,
  course: string,
  names: HTMLInputElement,
  ask: Ask,
  trans: TranslationBundle,
  changed: () => Promise<void>
): Promise<void> {
  const { requests } = await ask<IRequests>('marking/requests', { course });
  const said = h('p', { role: 'status', className: 'tfkit-Facts' });
  const answer = async (one: IRequest, body: object): Promise<void> => {
    const sent = { course, request: one.id, version: one.answer?.version ?? 0, ...body };
    const { meanwhile, feedback } = await ask<IOutcome>('marking/requests', sent);
    const other = Object.values(meanwhile)[0];
    const notice = other
      ? trans.__('%1 changed this mark meanwhile: look at it again. The request still waits.', other.by)
      : feedback && trans.__('The reply is saved, but the feedback page could not be written again: %1', feedback);
    await drawRequests(node, course, names, ask, trans, changed);
    node.querySelector('[role=status]')!.textContent = notice || trans.__('The answer is in the feedback.');
    await changed();
  };
  const numbers = new Map([...new Set(requests.map(({ student }) => student))].map((name, n) => [name, n + 1]));
  const draw = (): void => {
    const called = (student: string): string =>
      names.checked ? student : trans.__('Student %1', numbers.get(student)!);
    const open = requests.filter(({ accepted }) => accepted === null);
    const closed = requests.filter(({ accepted }) => accepted !== null);
    const facts = trans._n('%1 request waits for an answer', '%1 requests wait for an answer', open.length);
    const old = h(
      'details',
      {},
      h('summary', {}, trans.__('Answered (%1)', closed.length)),
      ...closed.map(one => answeredCard(one, called(one.student), trans))
    );
    node.replaceChildren(
      h('h1', {}, trans.__('Regrade requests')),
      h('p', { className: 'tfkit-Facts' }, facts),
      said,
      h('label', { className: 'tfkit-Names' }, names, ` ${trans.__('Show names')}`),
      ...open.map(one => requestCard(one, called(one.student), trans, body => answer(one, body))),
      ...(closed.length ? [old] : [])
    );
  };
  names.onchange = draw;
  draw();
}

const heading = (one: IRequest, called: string): HTMLElement =>
  h('h2', {}, titleOf(one), ' ', h('small', {}, `${one.assignment} · ${called}`));

function asked(one: IRequest, trans: TranslationBundle): HTMLElement[] {
  const at = new Date(one.at).toLocaleString(writtenIn(), { dateStyle: 'medium', timeStyle: 'short' });
  const sender = trans.__('Sent by the account %1, which is not the student’s.', one.sender);
  return [
    h('blockquote', {}, one.reason, ' ', h('small', {}, at)),
    ...(one.sender ? [h('p', { className: 'tfkit-mod-warn' }, sender)] : [])
  ];
}

function answeredCard(one: IRequest, called: string, trans: TranslationBundle): HTMLElement {
  const outcome = one.accepted ? trans.__('Accepted by %1', one.by) : trans.__('Declined by %1', one.by);
  const said = one.sentence ? `${outcome}: ${one.sentence}` : outcome;
  return h('section', { className: 'tfkit-Request' }, heading(one, called), ...asked(one, trans), h('p', {}, said));
}

function requestCard(
  one: IRequest,
  called: string,
  trans: TranslationBundle,
  answer: (body: object) => Promise<void>
): HTMLElement {
  const title = heading(one, called);
  const { answer: given } = one;
  if (!given) {
    const gone = h('p', {}, trans.__('This question is not in the gradebook any more.'));
    return h('section', { className: 'tfkit-Request' }, title, ...asked(one, trans), gone);
  }
  const verdict = given.verdict ? [h('p', {}, trans.__('Grader: %1', verdictOf(given.verdict, trans)))] : [];
  const mark = h('p', {}, trans.__('Mark: %1', stateOf(given, one, trans)));
  const said = given.comment ? [h('p', { className: 'tfkit-Said' }, given.comment)] : [];
  const form = new MarkForm(
    one,
    given,
    trans,
    {
      give: ({ score, own, chosen }) => answer({ accept: true, score, sentence: own, chosen }),
      add: null,
      rubric: null
    },
    {
      called: trans.__('Answer to the request: %1', `${titleOf(one)}, ${called}`),
      own: trans.__('A sentence for the student'),
      give: trans.__('Accept with this mark')
    }
  );
  const decline = h('button', { type: 'button' }, trans.__('Decline'));
  const why = h('p', { role: 'status' });
  decline.onclick = async () => {
    try {
      await answer({ accept: false, sentence: form.mark.own });
    } catch (error) {
      why.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  form.node.append(h('p', {}, decline), why);
  const left = h('div', { className: 'tfkit-Answers' }, ...asked(one, trans), ...verdict, mark, ...said);
  left.append(written(given, trans));
  return h(
    'section',
    { className: 'tfkit-Request' },
    title,
    h('div', { className: 'tfkit-Group-body' }, left, form.node)
  );
}
