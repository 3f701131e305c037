/** Progress through the course in the status bar: how many exercises are passed. A click shows the course panel. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { ICourse } from '../../shared/tokens';
import { h } from '../../widgets/dom';

/** Passed and all exercises of a course. */
export function countPassed(course: Pick<ICourse, 'units'>): [number, number] {
  const all = course.units.flatMap(unit => unit.exercises);
  return [all.filter(exercise => exercise.state === 'passed').length, all.length];
}

class ProgressItem extends Widget {
  constructor(
    private readonly _course: ICourse,
    private readonly _trans: TranslationBundle,
    show: () => void
  ) {
    super();
    this.addClass('tfkit-Progress');
    this._button.onclick = show;
    this.node.append(this._button);
    _course.changed.connect(this._draw, this);
    this._draw();
  }

  private _draw(): void {
    const [passed, all] = countPassed(this._course);
    this._button.textContent = this._trans.__('Course %1/%2', passed, all);
    this._button.title = this._trans.__('%1 of %2 exercises passed: show the course', passed, all);
  }

  private readonly _button = h('button', { type: 'button' });
}

export const progressPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:progress',
  description: 'Shows in the status bar how many exercises are passed.',
  autoStart: true,
  requires: [ICourse],
  optional: [IStatusBar, ITranslator],
  activate: (app: JupyterFrontEnd, course: ICourse, statusBar: IStatusBar | null, translator: ITranslator | null) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    statusBar?.registerStatusItem('@tfkit/lab:progress', {
      item: new ProgressItem(course, trans, () => void app.commands.execute('tfkit:show-course')),
      align: 'left',
      rank: 50,
      isActive: () => countPassed(course)[1] > 0,
      activeStateChanged: course.changed as never // only the event is used, not its arguments
    });
  }
};
