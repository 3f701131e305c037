/** The bundle that the kernel sends (anywidget) and that an exported page carries in itself. */
import { IModel, RecordedModel } from './model';
import { mount } from './stepper';

export { mount, RecordedModel };
export default {
  render({ model, el }: { model: IModel; el: HTMLElement }): () => void {
    return mount(model, el);
  }
};
