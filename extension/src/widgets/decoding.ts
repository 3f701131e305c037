/** The view of decoding runs is the stepper. */
import { IRenderProps } from './model';
import { mount } from './stepper';

export { mount };
export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
