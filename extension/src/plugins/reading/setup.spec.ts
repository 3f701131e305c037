import { describe, expect, it } from 'vitest';
import { ISetupState, SetupRuns } from './setup';

const CELLS = ['imports', 'seed', 'mine'].map(id => ({ id, source: `# ${id}` }));

/** A kernel that answers when it is told to, and remembers what it was sent: the cell's id, or the code. */
function slowKernel(answer: (code: string) => string = () => 'ok') {
  const sent: string[] = [];
  const open: (() => void)[] = [];
  const requestExecute = ({ code }: { code: string }) => {
    sent.push(/^if "(\w+)"/.exec(code)?.[1] ?? code);
    const done = new Promise(resolve => open.push(() => resolve({ content: { status: answer(code) } })));
    return { done };
  };
  const reply = async (): Promise<void> => {
    open.splice(0).forEach(one => one());
    await new Promise(resolve => setTimeout(resolve));
  };
  return { kernel: { requestExecute } as never, sent, reply };
}

function runs(own = ['imports', 'seed', 'mine']) {
  const told: ISetupState[] = [];
  const made = new SetupRuns(
    () => CELLS,
    own,
    state => told.push(state)
  );
  return { made, last: () => told[told.length - 1] };
}

describe('the set-up of a lesson', () => {
  it('is run only when all of its cells are, and says how many are not the course’s own', async () => {
    const [{ made, last }, { kernel, sent, reply }] = [runs(['imports', 'seed']), slowKernel()];
    void made.run(kernel);
    expect(sent.slice(0, 2)).toEqual(['imports', 'seed']);
    await reply();
    expect(last()).toEqual({ begun: true, failed: false, waiting: 1 });
    made.ran('mine', true); // by the reader
    expect(last()).toEqual({ begun: true, failed: false, waiting: 0 });
  });

  it('is sent once, at once, before the next cell that is run in a new kernel', async () => {
    const [{ made, last }, first, second] = [runs(), slowKernel(), slowKernel()];
    void made.run(first.kernel);
    await first.reply();
    expect(last().waiting).toBe(0);
    made.forget(); // restarted, changed, shut down
    expect(last()).toEqual({ begun: false, failed: false, waiting: 3 });
    made.scheduled('demo', second.kernel);
    made.scheduled('another', second.kernel);
    expect(second.sent.slice(0, 3)).toEqual(['imports', 'seed', 'mine']);
    expect(new Set(second.sent).size).toBe(second.sent.length);
    await second.reply();
    expect(last().waiting).toBe(0);
  });

  it('is not repeated by Run All, which begins with it', () => {
    const [{ made }, { kernel, sent }] = [runs(), slowKernel()];
    for (const { id } of [...CELLS, { id: 'demo' }]) {
      made.scheduled(id, kernel);
    }
    expect(sent.filter(id => CELLS.some(cell => cell.id === id))).toEqual([]);
  });

  it('lets each kernel wait for predictions, also where no set-up is the course’s own', () => {
    const [{ made }, { kernel, sent }] = [runs([]), slowKernel()];
    void made.run(kernel);
    void made.run(kernel);
    made.forget();
    made.scheduled('compare', kernel);
    expect(sent).toEqual(["__import__('tfkit_lab.predict')", "__import__('tfkit_lab.predict')"]);
  });

  it('has stopped with an error until that cell has run, and a kernel that is gone says nothing', async () => {
    const [{ made, last }, bad] = [runs(), slowKernel(code => (code.includes('# seed') ? 'error' : 'ok'))];
    void made.run(bad.kernel);
    await bad.reply();
    expect(last()).toEqual({ begun: true, failed: true, waiting: 1 });
    made.ran('seed', true);
    expect(last()).toEqual({ begun: true, failed: false, waiting: 0 });
    made.forget();
    void made.run(bad.kernel);
    made.forget();
    await bad.reply();
    expect(last()).toEqual({ begun: false, failed: false, waiting: 3 });
  });
});
