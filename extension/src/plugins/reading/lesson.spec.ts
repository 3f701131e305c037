import type { NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { PanelLayout, Widget } from '@lumino/widgets';
import { expect, it, vi } from 'vitest';
import { IServices, LessonReader } from './lesson';

const notebooks = vi.hoisted(() => {
  const heard: Record<string, (sender: unknown, run: unknown) => void> = {};
  const signal = (name: string) => ({
    connect: (slot: (sender: unknown, run: unknown) => void, self: unknown) => (heard[name] = slot.bind(self))
  });
  return { heard, NotebookActions: { executed: signal('executed'), executionScheduled: signal('scheduled') } };
});
vi.mock('@jupyterlab/notebook', () => notebooks);

const signal = () => new Signal<object, unknown>({});
const settled = (): Promise<unknown> => new Promise(resolve => setTimeout(resolve));

/** A cell that tells `reads` when its source is read and `drawn` when it is drawn. */
function cellOf(id: string, source: () => string, reads: (id: string) => void, drawn: (id: string) => void) {
  const getSource = (): string => (reads(id), source());
  const type = id.startsWith('text') ? 'markdown' : 'code';
  const model = { id, type, sharedModel: { getSource }, getMetadata: () => undefined };
  const cell = Object.assign(new Widget(), { model });
  cell.layout = new PanelLayout();
  Object.defineProperty(cell, 'ready', { get: () => (drawn(id), Promise.resolve()) });
  return cell;
}

/** A notebook's session with a kernel that tells `sent` what it is asked. */
function sessionOf(sent: (asked: { code: string }) => void) {
  const done = Promise.resolve({ content: { status: 'ok' } });
  const kernel = { requestExecute: (asked: { code: string }) => (sent(asked), { done }) };
  return {
    ...{ statusChanged: signal(), kernelChanged: signal(), ready: Promise.resolve(), session: { kernel } }
  };
}

/** A lesson in reading mode. */
async function lesson(sources: Record<string, string>) {
  const reads = vi.fn<(id: string) => void>();
  const drawn = vi.fn<(id: string) => void>();
  const sent = vi.fn<(asked: { code: string }) => void>();
  const cell = (id: string) => cellOf(id, () => sources[id], reads, drawn);
  const [activeCellChanged, cellsChanged, changed] = [signal(), signal(), signal()];
  const widgets = Object.keys(sources).map(cell);
  const content = Object.assign(new Widget(), {
    ...{ widgets, activeCellIndex: 0, activeCellChanged, model: { cells: { changed: cellsChanged } } }
  });
  const sessionContext = sessionOf(sent);
  const panel = {
    ...{ content, sessionContext, contentHeader: { addWidget: vi.fn() }, context: { localPath: 'a.ipynb' } },
    disposed: signal()
  } as unknown as NotebookPanel;
  const course = { units: [], changed };
  const services = { course, trans: nullTranslator.load('tfkit_lab'), keys: () => '' } as unknown as IServices;
  const reader = new LessonReader(panel, { predictions: [], setup: ['setup'] }, services);
  reader.on = true;
  await settled();
  reads.mockClear();
  drawn.mockClear();
  const move = (to: number): void => {
    content.activeCellIndex = to;
    activeCellChanged.emit(null);
  };
  const add = (id: string, source: string): void => {
    sources[id] = source;
    widgets.push(cell(id));
    cellsChanged.emit(null);
  };
  const schedule = (at: number): void => notebooks.heard.scheduled(null, { notebook: content, cell: widgets[at] });
  const executed = (at: number): void =>
    notebooks.heard.executed(null, { notebook: content, cell: widgets[at], success: true });
  return { widgets, reads, drawn, sent, changed, move, add, schedule, executed, sessionContext };
}

const SOURCES = () => ({
  'text-title': '',
  setup: 'import torch',
  'text-1': '',
  own: 'x = 1',
  compare: 'predicted("a")'
});

it('reads no source and draws no cell again when the reader goes to a cell or runs one', async () => {
  const { widgets, reads, drawn, move, schedule, executed } = await lesson(SOURCES());
  [2, 3, 4, 2].forEach(move);
  schedule(3);
  executed(3);
  executed(1);
  await settled();
  expect([reads.mock.calls, drawn.mock.calls]).toEqual([[], []]);
  expect(widgets.map(({ node }) => node.dataset.tfkitDisplay)).toEqual(['cover', 'setup', 'plain', 'plain', 'compare']);
});

it('draws the cells again when the course has changed, and reads them when they have', async () => {
  const { widgets, reads, drawn, changed, add } = await lesson(SOURCES());
  changed.emit(null);
  expect([reads.mock.calls.length, drawn.mock.calls.length]).toEqual([0, 5]);
  add('more', 'predicted("b")');
  await settled();
  expect(reads.mock.calls.map(([id]) => id)).toContain('more');
  expect(widgets[5].node.dataset.tfkitDisplay).toBe('compare');
});

it('runs the set-up in a new kernel as it is now', async () => {
  const sources = SOURCES();
  const { sent, schedule, sessionContext } = await lesson(sources);
  sent.mockClear();
  sources.setup = 'import math';
  sessionContext.kernelChanged.emit(null);
  schedule(3);
  expect(sent.mock.calls[0][0].code).toContain('import math');
});
