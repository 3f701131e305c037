/** The stepper as the kernel sends it (anywidget), and as an exported page carries it in itself. */
import { IModel } from './model';
import { mount } from './stepper';

export default {
  render({ model, el }: { model: IModel; el: HTMLElement }): () => void {
    return mount(model, el);
  }
};
