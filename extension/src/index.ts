import { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { checkPlugin } from './plugins/check';
import { coursePlugin } from './plugins/course';
import { mimePlugin } from './plugins/mime';
import { panelPlugin } from './plugins/panel';
import { viewsPlugin } from './plugins/views';

export * from './shared/tokens';
export type { IModel } from './widgets/model';

const plugins: JupyterFrontEndPlugin<any>[] = [viewsPlugin, coursePlugin, panelPlugin, checkPlugin, mimePlugin];
export default plugins;
