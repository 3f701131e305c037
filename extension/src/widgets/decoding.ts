/** The view of decoding runs is the stepper. */
import { IModel } from './model';
import { mount } from './stepper';

export { mount };
export default { render: ({ model, el }: { model: IModel; el: HTMLElement }) => mount(model, el) };
