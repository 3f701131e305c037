import { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { checkPlugin } from './plugins/check';
import { coursePlugin } from './plugins/course';
import { familyPlugin } from './plugins/family';
import { handInPlugin } from './plugins/handin';
import { homePlugin } from './plugins/home';
import { huntPlugin } from './plugins/hunt';
import { instructorPlugin } from './plugins/instructor';
import { mimePlugin } from './plugins/mime';
import { panelPlugin } from './plugins/panel';
import { pointingPlugin } from './plugins/pointing';
import { progressPlugin } from './plugins/progress';
import { readingPlugin } from './plugins/reading';
import { regradePlugin } from './plugins/regrade';
import { viewsPlugin } from './plugins/views';

export * from './shared/tokens';
export type { IModel } from './widgets/model';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  viewsPlugin,
  coursePlugin,
  homePlugin,
  panelPlugin,
  progressPlugin,
  checkPlugin,
  mimePlugin,
  familyPlugin,
  instructorPlugin,
  handInPlugin,
  huntPlugin,
  regradePlugin,
  readingPlugin,
  pointingPlugin
];
export default plugins;
