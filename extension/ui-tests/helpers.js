/** What the tests of JupyterLab and of pages share. */
const { join } = require('node:path');
const { default: AxeBuilder } = require('@axe-core/playwright');
const { expect, test } = require('@playwright/test');

const SERVER = `http://127.0.0.1:${process.env.UI_PORT || 8899}`;
const READING = `${SERVER}/lab/api/settings/@tfkit/lab:reading?token=tests`;
const THEMES = `${SERVER}/lab/api/settings/@jupyterlab/apputils-extension:themes?token=tests`;

/** Opens a page from disk, as prepare.py has written it. */
const openPage = (page, file) => page.goto(`file://${join(__dirname, '.tmp', 'root', file)}`);

/** By how many pixels a page is wider than the window. */
const excessWidth = page => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

const shot = (page, name) => page.screenshot({ path: `screenshots/${name}.png` });

/** Stores settings, whatever an earlier test left there. */
async function settings(page, url, raw) {
  const put = await page.request.put(url, { data: { raw }, headers: { Authorization: 'token tests' } });
  expect(put.ok(), `${put.status()} ${await put.text()}`).toBe(true);
}

/** Opens JupyterLab in its light theme, with lessons in reading mode or as whole notebooks. */
async function lab(page, path, { reading = false } = {}) {
  await settings(page, THEMES, '{}');
  await settings(page, READING, JSON.stringify({ on: reading }));
  await page.goto(`${SERVER}/lab?token=tests&reset`);
  await page.waitForFunction(() => window.jupyterapp);
  await page.evaluate(() => window.jupyterapp.restored);
  if (path) {
    await page.evaluate(p => {
      const opened = async () => {
        const panel = await window.jupyterapp.commands.execute('docmanager:open', { path: p });
        await panel.context.ready;
        await panel.sessionContext.ready;
      };
      return (window.opened = opened()); // kept: Chromium may collect a promise that nothing else in the page holds
    }, path);
    await page.locator('.jp-NotebookPanel .jp-Cell').first().waitFor();
  }
}

/** Stores the language that the lab has when it is opened next. */
const language = (page, locale) =>
  page.evaluate(
    to =>
      window.jupyterapp.serviceManager.settings.save(
        '@jupyterlab/translation-extension:plugin',
        JSON.stringify({ locale: to })
      ),
    locale
  );

const command = (page, id, args = {}) =>
  page.evaluate(([i, a]) => window.jupyterapp.commands.execute(i, a).then(() => null), [id, args]);

/** Changes the theme ("Light", "Dark", "Dark High Contrast") and waits until it is applied and the splash screen has gone. */
async function theme(page, name) {
  await command(page, 'apputils:change-theme', { theme: `JupyterLab ${name}` });
  await expect(page.locator('body')).toHaveAttribute('data-jp-theme-name', `JupyterLab ${name}`);
  await expect(page.locator('#jupyterlab-splash')).toHaveCount(0);
}

/** Waits until axe finds nothing in the given parts of the page: colours that are still fading have too little contrast. */
const accessible = (page, ...where) =>
  expect
    .poll(
      async () => {
        const builder = where.reduce((axe, selector) => axe.include(selector), new AxeBuilder({ page }));
        const { violations } = await builder.analyze();
        return violations.map(v => `${v.id}: ${v.nodes.map(n => n.html.slice(0, 90)).join(' | ')}`);
      },
      { timeout: 90000 } // axe reads a page of views in a few seconds, on a busy machine in half a minute
    )
    .toEqual([]);

/** Whether all that can be pressed is 24 pixels high and wide, or has that much room: WCAG 2.5.8, which axe leaves out unless asked. */
async function largeEnough(page, ...where) {
  const axe = new AxeBuilder({ page }).withRules(['target-size']);
  const { violations } = await where.reduce((builder, selector) => builder.include(selector), axe).analyze();
  expect(violations.flatMap(({ nodes }) => nodes.map(({ html }) => html.slice(0, 120)))).toEqual([]);
}

/** Words on the system's accent, behind which the browser would paint a plate of the page's colour. */
const plated = page =>
  page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.cssText = 'background:Highlight;forced-color-adjust:none';
    const accent = getComputedStyle(probe).backgroundColor;
    probe.remove();
    return [...document.querySelectorAll('[class*=tfk], [class*=play-], .start')]
      .filter(node => node.textContent && getComputedStyle(node).backgroundColor === accent)
      .filter(node => getComputedStyle(node).forcedColorAdjust !== 'none')
      .map(node => node.className);
  });

/** Waits until axe finds nothing in the theme of high contrast, and where the system forces its own colours; ends in the light theme. */
async function readable(page, name, ...where) {
  test.info().setTimeout(test.info().timeout + 90000); // axe reads the page twice more
  await theme(page, 'Dark High Contrast');
  await accessible(page, ...where);
  await shot(page, `${name}-high-contrast`);
  await theme(page, 'Light');
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  await accessible(page, ...where);
  expect(await plated(page)).toEqual([]);
  await shot(page, `${name}-forced-colours`);
  await page.emulateMedia({ forcedColors: null, colorScheme: null });
}

/** Makes a cell the active one, by the role and exercise in its metadata, or by place. */
const activate = (page, find) =>
  page.evaluate(f => {
    const { content } = window.jupyterapp.shell.currentWidget;
    const index = content.widgets.findIndex((cell, i) => {
      const meta = cell.model.getMetadata('tfkit') || {};
      return typeof f === 'number' ? i === f : meta.role === f.role && meta.exercise === f.exercise;
    });
    content.activeCellIndex = index;
    return content.scrollToItem(index, 'start').then(() => index);
  }, find);

const setSource = (page, source) =>
  page.evaluate(s => window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(s), source);

/** Runs a cell until it prints what is meant: the front end sends its last change only when the one before has been answered. */
async function prints(page, index, text) {
  await activate(page, index);
  const output = page.locator('.jp-Cell').nth(index).locator('.jp-OutputArea-output');
  await expect(async () => {
    await command(page, 'notebook:run-cell');
    await expect(output).toHaveText(text, { timeout: 5000 });
  }).toPass({ timeout: 60000 });
}

/** Waits until the notebook's first output has been written to say so; a moment passes between what is shown and what is kept. */
const keeps = (page, state) =>
  expect
    .poll(() =>
      page.evaluate(() => {
        const [output] = window.jupyterapp.shell.currentWidget.content.widgets[0].model.toJSON().outputs;
        return output?.data['application/vnd.tfkit.trace.v1+json'];
      })
    )
    .toMatchObject(state);

module.exports = {
  SERVER,
  accessible,
  activate,
  command,
  excessWidth,
  keeps,
  lab,
  language,
  largeEnough,
  openPage,
  plated,
  prints,
  readable,
  setSource,
  shot,
  theme
};
