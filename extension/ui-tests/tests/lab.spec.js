const { execFileSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const {
  accessible,
  activate,
  command,
  keeps,
  lab,
  language,
  openPage,
  prints,
  readable,
  setSource,
  shot,
  theme
} = require('../helpers');

const UNIT = '02-masks/02-masks.ipynb';
const EXERCISE = 'masks.causal';
/** One of our own answers, whole. */
const collected = (exercise, name) =>
  execFileSync('autograder', ['corpus', 'show', exercise, name], { encoding: 'utf-8' });
const SUBMISSIONS = join(__dirname, '../../../course/units/02-masks/submissions', EXERCISE);

const stepper = page => page.locator('.tfk:visible').first();
const said = page => stepper(page).locator('[role=status]');
const chosen = (page, n) => expect(said(page)).toHaveText(new RegExp(`^Step ${n} of 6`));

test('the course panel lists the units and opens an exercise', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:show-course');
  const panel = page.locator('#tfkit-course');
  await expect(panel.locator('section')).toHaveCount(1);
  const entry = panel.locator(`[data-exercise="${EXERCISE}"]`);
  await expect(entry).toContainText('not started');
  await expect(panel.locator('.tfkit-late')).toHaveText(/^was due .*2020/);
  await expect(panel.getByRole('button', { name: /^Next: / })).toBeVisible();
  await entry.click();
  await page.waitForFunction(
    () => window.jupyterapp.shell.currentWidget?.content?.activeCell?.model.getMetadata('tfkit')?.role === 'exercise'
  );
  const at = await page.evaluate(() =>
    window.jupyterapp.shell.currentWidget.content.activeCell.model.getMetadata('tfkit')
  );
  expect(at).toEqual({ role: 'exercise', exercise: EXERCISE });
  const heading = page.locator('.jp-Notebook h2', { hasText: '1 · The causal mask' });
  await expect(heading).toBeInViewport(); // with what is to be read before the cell
  await expect(page.locator('.jp-Cell.jp-mod-active .cm-line').first()).toBeInViewport();
  await shot(page, 'course-panel');
  await command(page, 'tfkit:open-exercise', { path: UNIT, exercise: 'masks.gone' });
  await expect(page.getByRole('alert')).toContainText('The cell of masks.gone is missing from 02-masks.ipynb');
});

test('the tour is offered once: it goes by the keys, Escape ends it, and a command shows it again', async ({
  page
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await lab(page);
  const tour = page.locator('.tfkit-Tour');
  const title = tour.getByRole('heading');
  await expect(title).toHaveText('New here?');
  await tour.getByRole('button', { name: 'Show me around' }).focus();
  await page.keyboard.press('Enter');
  await expect(title).toHaveText('Go on here');
  await expect(page.locator('.tfkit-Continue')).toHaveClass(/tfkit-Tour-target/);
  for (const name of ['Light', 'Dark', 'Dark High Contrast']) {
    await theme(page, name);
    await accessible(page, '#tfkit-home');
    await shot(page, `tour-${name.split(' ').pop().toLowerCase()}`);
  }
  await title.focus();
  for (let i = 0; i < 4; i++) {
    await page.keyboard.press('ArrowRight');
  }
  await expect(page.locator('[data-id="tfkit-course"]')).toHaveClass(/tfkit-Tour-target/);
  await expect(tour).toBeInViewport();
  await shot(page, 'tour-last');
  await page.keyboard.press('Escape');
  await expect(tour).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Start the course' })).toBeFocused();

  await lab(page);
  await expect(page.locator('#tfkit-home .tfkit-Card')).toHaveCount(1);
  await expect(tour).toHaveCount(0);
  await command(page, 'tfkit:tour');
  await page.setViewportSize({ width: 390, height: 844 });
  await command(page, 'application:toggle-left-area');
  await expect(tour).toBeInViewport({ ratio: 1 });
  await shot(page, 'tour-390');
  await tour.getByRole('button', { name: 'No, thank you' }).click();
  await expect(tour).toHaveCount(0);
});

const exerciseHere = page =>
  page.waitForFunction(() => {
    const meta = window.jupyterapp.shell.currentWidget?.content?.activeCell?.model.getMetadata('tfkit');
    return meta?.role === 'exercise' && meta.exercise;
  });

test('the lab opens on the home page, which leads to the next exercise and finds others, in every theme and width', async ({
  page
}) => {
  await lab(page);
  const home = page.locator('#tfkit-home');
  await expect(home.getByRole('heading', { level: 1 })).toHaveText('Course');
  await expect(page.locator('.jp-Launcher')).toHaveCount(0); // it takes the launcher's place
  await expect(home.locator('.tfkit-Card')).toHaveCount(1);
  await expect(home.locator('.tfkit-Card')).toContainText('75 min');
  await home.getByRole('button', { name: 'Start the course' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('.jp-Notebook h1')).toBeInViewport(); // who starts reads the introduction
  await command(page, 'tfkit:open-exercise', { path: UNIT, exercise: EXERCISE });
  expect(await (await exerciseHere(page)).jsonValue()).toBe(EXERCISE);
  await expect(page.locator('.jp-Cell.jp-mod-active')).toBeInViewport(); // it was scrolled to

  await command(page, 'tfkit:home');
  await expect(page.locator('.tfkit-Home')).toHaveCount(1); // the same one again
  const box = home.getByRole('searchbox');
  await box.fill('causal');
  await expect(home.getByRole('status')).toHaveText('3 results'); // two exercises and a term
  await expect(home.locator('.tfkit-Found li').nth(2)).toContainText('no position may attend to a later one.');
  await box.fill('fully masked');
  await expect(home.getByRole('status')).toHaveText('1 result');
  await box.fill('padding mask');
  await expect(home.locator('.tfkit-Found li').first()).toContainText('Padding mask');
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    () =>
      window.jupyterapp.shell.currentWidget?.content?.activeCell?.model.getMetadata('tfkit')?.exercise ===
      'masks.padding'
  );

  await command(page, 'tfkit:home');
  for (const name of ['Light', 'Dark']) {
    await theme(page, name);
    await accessible(page, '#tfkit-home');
    await shot(page, `home-${name.toLowerCase()}`);
  }
  await readable(page, 'home', '#tfkit-home', '#tfkit-course');
  await page.setViewportSize({ width: 390, height: 844 });
  await command(page, 'application:toggle-left-area');
  await expect(home).toBeVisible();
  await expect.poll(() => home.evaluate(node => node.scrollWidth - node.clientWidth)).toBe(0);
  await shot(page, 'home-390');
});

test('Check says what is wrong with a wrong answer, and that a right one is right', async ({ page }) => {
  await lab(page, UNIT);
  await command(page, 'tfkit:show-course');
  await activate(page, 0);
  await expect(page.locator('.jp-cell-toolbar:visible').getByText('Check', { exact: true })).toBeHidden();
  await activate(page, { role: 'exercise', exercise: EXERCISE });
  const right = await page.evaluate(() =>
    window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.getSource()
  );
  await setSource(page, `# ${'A long first line. '.repeat(12)}\n${collected(EXERCISE, 'own_position_hidden')}`);
  const button = page.locator('.jp-cell-toolbar:visible').getByText('Check', { exact: true });
  await expect(page.locator('.jp-Cell.jp-mod-active')).toHaveClass(/jp-toolbar-overlap/); // its first line is long
  await button.click();
  const verdict = page.locator('.tfkit-Verdict');
  await expect(verdict).toHaveAttribute('data-state', 'failed', { timeout: 90000 });
  await expect(verdict.locator('.tfkit-v-title')).toHaveText('Causal mask');
  await expect(verdict.locator('.tfkit-v-hint')).not.toBeEmpty();
  await expect(page.locator(`#tfkit-course [data-exercise="${EXERCISE}"]`)).toContainText('not yet right');
  await expect(verdict.locator('.tfkit-v-chips li').first()).toHaveText('✗ values 0.2 of 0.5'); // one known edit away
  await expect(verdict.locator('.tfkit-v-m td.tfkit-wrong').first()).toHaveText(/^✗ /);
  await expect(verdict.locator('.tfkit-Of')).toHaveText(/^Checked with the button, /);
  const marked = page.locator('.tfkit-WrongLine');
  await expect(verdict.locator('.tfkit-v-line')).toContainText(/^Line \d+: /);
  await expect(marked).toHaveText(await verdict.locator('.tfkit-v-line pre').textContent());
  await expect(page.locator('.tfkit-LineSign')).toHaveAttribute('title', /^Line \d+: /);
  await page.locator('.jp-Cell', { has: marked }).screenshot({ path: 'screenshots/verdict-line.png' });
  await expect(verdict.locator('.tfkit-v-left')).toHaveText(/^Not yet earned: [\d.]+ of [\d.]+ \(values /);
  const steps = verdict.locator('.tfkit-v-trace');
  await expect(steps.locator('table')).toBeHidden();
  await steps.locator('summary').focus();
  await page.keyboard.press('Enter');
  await expect(steps.locator('tr.tfkit-v-here code')).toHaveText(await marked.textContent());
  await shot(page, 'check-wrong');
  await accessible(page, '.tfkit-Verdict', '#tfkit-course');
  await readable(page, 'check-wrong', '.tfkit-Verdict', '#tfkit-course');

  await setSource(page, right);
  await expect(verdict).toHaveAttribute('data-stale', 'true');
  await expect(marked).toHaveCount(0); // the line may be another one by now
  await expect(verdict.locator('.tfkit-Of')).toContainText('Out of date');
  await verdict.getByRole('button', { name: 'Check again' }).click();
  await expect(verdict).toHaveAttribute('data-state', 'passed', { timeout: 90000 });
  await expect(page.locator(`#tfkit-course [data-exercise="${EXERCISE}"]`)).toContainText('passed');
  await shot(page, 'check-right');
  await command(page, 'docmanager:save');
});

test('the card is there when the notebook is opened again, and is one for the button and check()', async ({ page }) => {
  await lab(page, UNIT);
  const cards = page.locator('.tfkit-verdict:visible');
  await activate(page, { role: 'exercise', exercise: EXERCISE });
  const verdict = page.locator('.tfkit-Verdict');
  await expect(verdict).toHaveAttribute('data-state', 'passed');
  await expect(cards).toHaveCount(1);
  await setSource(page, 'def causal_mask(length):\n    return None');
  await expect(verdict).toHaveAttribute('data-stale', 'true');
  await command(page, 'notebook:run-cell');
  await activate(page, { role: 'check', exercise: EXERCISE });
  await command(page, 'notebook:run-cell');
  await expect(verdict).toHaveAttribute('data-state', 'failed', { timeout: 90000 }); // the later one wins
  await expect(verdict).toHaveAttribute('data-stale', 'false');
  await expect(verdict.locator('.tfkit-Of')).toHaveText(/^Checked with check\(\), .*the kernel had run\.$/);
  await expect(cards).toHaveCount(1);
  await page.locator('.tfkit-Pointer').getByRole('button', { name: 'Show the verdict' }).click();
  await expect(verdict).toBeInViewport();
  await shot(page, 'check-one-card');
});

test('a check in the kernel counts; after a restart one without its answer does not, and the cells it needs are run on request', async ({
  page
}) => {
  await lab(page, UNIT);
  await command(page, 'tfkit:show-course');
  const restart = () =>
    page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart());
  const runThem = page.getByRole('button', { name: 'Run them and this cell' });
  await restart();
  const imports = page.locator('.jp-Notebook .jp-CodeCell', { hasText: 'torch.manual_seed(0)' }).first();
  await imports.locator('.cm-line').first().click();
  await command(page, 'notebook:run-cell');
  await expect(imports.locator('.jp-OutputArea')).toContainText("name 'torch' is not defined", { timeout: 60000 });
  await runThem.click();
  await expect(imports.locator('.jp-OutputArea-output')).toHaveCount(0, { timeout: 60000 });

  const exercise = 'masks.padding';
  const entry = page.locator(`#tfkit-course [data-exercise="${exercise}"]`);
  const answer = page.locator('.jp-Notebook .jp-CodeCell', { hasText: 'def padding_mask' }).first();
  const check = page.locator('.jp-Notebook .jp-CodeCell', { hasText: `check("${exercise}")` }).first();
  const ask = async () => {
    await activate(page, { role: 'check', exercise });
    await command(page, 'notebook:run-cell');
  };
  await activate(page, { role: 'exercise', exercise });
  await setSource(page, readFileSync(join(SUBMISSIONS, '../masks.padding/right/new_axes.py'), 'utf-8'));
  await restart();
  await ask();
  await expect(check.locator('.jp-OutputArea')).toContainText('has not been run in this kernel', { timeout: 60000 });
  await expect(entry).toContainText('not started'); // nothing is recorded
  await shot(page, 'check-not-run');
  await runThem.click(); // the set-up too, but no prediction, which would stop the others
  await expect(entry).toContainText('passed', { timeout: 90000 });
  await expect(page.locator('#tfkit-course .tfkit-Next')).not.toContainText('Padding mask');
  await expect(check.locator('.tfkit-Pointer')).toBeVisible();

  await restart();
  await ask();
  await expect(check.locator('.tfkit-verdict')).toContainText('an earlier result stays', { timeout: 60000 });
  await expect(check.locator('.tfkit-Pointer')).toHaveCount(0);
  await expect(entry).toContainText('passed');
  await expect(answer.locator('.tfkit-Verdict')).toHaveAttribute('data-state', 'passed');
});

test('the lab in French has the course and the stepper in French', async ({ page }) => {
  await lab(page);
  await language(page, 'fr_FR');
  try {
    await lab(page, 'stepper.ipynb');
    await command(page, 'tfkit:show-course');
    await expect(page.locator('#tfkit-course').getByRole('button', { name: /^Suite\s: / })).toBeVisible();
    await activate(page, 0);
    await command(page, 'notebook:run-cell');
    await expect(said(page)).toHaveText(/^Pas 1 sur 6/);
    await shot(page, 'french');
    await command(page, 'tfkit:open-exercise', { path: UNIT, exercise: EXERCISE });
    await expect(page.locator('.jp-cell-toolbar:visible').getByText('Vérifier', { exact: true })).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'fr-FR'); // for speech programs
    await expect(page.locator('.jp-Notebook:visible')).toHaveAttribute('lang', 'en'); // the lesson is
    await expect(page.locator('#tfkit-course .tfkit-late')).toHaveText(/12 oct\. 2020/);
  } finally {
    await language(page, 'en');
  }
});

test('a failing case opens in the view of matrices, and is drawn anew by the code in the kernel', async ({ page }) => {
  await lab(page, UNIT);
  await activate(page, { role: 'exercise', exercise: 'masks.softmax' });
  await setSource(page, collected('masks.softmax', 'mask_ignored'));
  await page.locator('.jp-cell-toolbar:visible').getByText('Check', { exact: true }).click();
  const verdict = page.locator('.tfkit-Verdict').last(); // those of earlier tests are restored above it
  await expect(verdict).toHaveAttribute('data-state', 'failed', { timeout: 90000 });
  await verdict.getByRole('button', { name: 'Open in the matrix view' }).click();
  const beside = page.locator('#tfkit-example .tfk');
  await expect(beside.locator('h3')).toHaveText('masks.softmax');
  await expect(beside.locator('[role=status]')).toHaveText(/mask: row \d+, column \d+: (yes|no)/);
  await shot(page, 'example-view');
  await accessible(page, '#tfkit-example', '.tfkit-Verdict');
  await verdict.getByRole('button', { name: 'Draw this case in a new cell' }).click();
  const drawn = page.locator('.jp-NotebookPanel .tfk:visible').last();
  await expect(drawn.locator('[role=status]')).toHaveText(/result: /, { timeout: 60000 });
  await shot(page, 'example-cell');
});

test('the kernel works while a check runs, and the check can be cancelled', async ({ page }) => {
  await lab(page, UNIT);
  await activate(page, { role: 'exercise', exercise: EXERCISE });
  await setSource(page, 'import time\nwhile True:\n    time.sleep(1)');
  await page.locator('.jp-cell-toolbar:visible').getByText('Check', { exact: true }).click();
  const verdict = page.locator('.tfkit-Verdict');
  await expect(verdict).toHaveAttribute('data-state', 'running');
  const answer = await page.evaluate(async () => {
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    return (await kernel.requestExecute({ code: '6 * 7' }).done).content.status;
  });
  expect(answer).toBe('ok');
  await expect(verdict).toHaveAttribute('data-state', 'running');
  await verdict.getByRole('button', { name: 'Cancel' }).click();
  await expect(verdict).toHaveAttribute('data-state', 'cancelled');
});

test('the stepper goes both ways, tells the kernel, and reopens without one where it was left', async ({ page }) => {
  await lab(page, 'stepper.ipynb');
  await activate(page, 0);
  await command(page, 'notebook:run-cell');
  await chosen(page, 1);
  const button = name => stepper(page).getByRole('button', { name, exact: true });
  await expect(page.locator('.tfkit-Trace .jupyter-widgets-disconnected, .jupyter-widgets-error')).toHaveCount(0);
  await expect(page.locator('.tfkit-Trace > div:last-child .tfk')).toBeVisible(); // the live one has taken over
  await page.setViewportSize({ width: 1360, height: 560 });
  await stepper(page).evaluate(node => node.scrollIntoView({ block: 'end' }));
  await expect(stepper(page).getByRole('heading').first()).not.toBeInViewport();
  await expect(stepper(page).getByRole('toolbar')).toBeInViewport({ ratio: 1 }); // it sticks to the notebook's top
  await page.setViewportSize({ width: 1360, height: 1000 });
  await button('Step forward').click();
  await button('Step forward').click();
  await button('Step back').click();
  await chosen(page, 2);
  await stepper(page).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowLeft');
  await chosen(page, 3);
  await prints(page, 1, '2');
  await stepper(page).scrollIntoViewIfNeeded();
  await stepper(page).screenshot({ path: 'screenshots/stepper.png' });
  await shot(page, 'stepper-live');
  await accessible(page, '.tfk');
  await keeps(page, { step: 2 });
  await command(page, 'docmanager:save');
  await command(page, 'kernelmenu:shutdown');
  await chosen(page, 3);

  await lab(page, 'stepper.ipynb');
  await chosen(page, 3);
  await expect(page.locator('body')).not.toContainText('model not found');
  await stepper(page).focus();
  await page.keyboard.press('Home');
  await chosen(page, 1);
  await button('Step forward').focus();
  await page.keyboard.press('End');
  await chosen(page, 6);
  await page.keyboard.press('ArrowLeft'); // the keys still work where the button leads no further
  await chosen(page, 5);
  const square = () =>
    stepper(page)
      .locator('canvas')
      .first()
      .evaluate(canvas => [...canvas.getContext('2d').getImageData(2, 2, 1, 1).data]);
  const light = await square();
  await theme(page, 'Dark');
  await expect.poll(square).not.toEqual(light); // painted anew, with the tokens of the theme
  await shot(page, 'stepper-reopened-dark');
  const saved = page.waitForEvent('download');
  await button('HTML').click();
  const file = join(__dirname, '../.tmp/saved.html');
  await (await saved).saveAs(file);
  expect(readFileSync(file, 'utf-8')).toContain('<!doctype html>');
  const link = await stepper(page).evaluate(root =>
    globalThis[Symbol.for('@tfkit/lab:share')].link(root, { trace: {}, step: 1, layer: 0, head: 0, pin: -1 })
  );
  await page.goto('about:blank');
  await page.goto(link.replace('#', '?token=tests&reset#'));
  await chosen(page, 2); // and not the fifth, where the notebook was left
  await page.goto('about:blank');
  await page.goto(`file://${file}`);
  await chosen(page, 5);
  await stepper(page).getByRole('button', { name: 'SVG' }).click();
  await expect(stepper(page).getByRole('button', { name: 'Saved' })).toBeVisible(); // by the script that came along
});

test('the exported page works from disk, with no network', async ({ page }) => {
  const asked = [];
  page.on('request', request => asked.push(request.url()));
  page.on('pageerror', error => asked.push(String(error)));
  await openPage(page, 'page.html');
  await stepper(page).focus();
  await page.keyboard.press('ArrowRight');
  await chosen(page, 2);
  await expect(page.locator('canvas').first()).toHaveAttribute('aria-label', /attends most to/);
  expect(asked.filter(url => !url.startsWith('file:') && !url.startsWith('data:'))).toEqual([]);
  await stepper(page).screenshot({ path: 'screenshots/page.png' });
});
