/** How large and how fast the widgets are, in a real browser: writes the page named in TABLE, or to the screen. */
const { readdirSync, readFileSync, statSync, writeFileSync } = require('node:fs');
const os = require('node:os');
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const { activate, command, lab } = require('../helpers');

const STATIC = join(__dirname, '../../tfkit_lab/static');
const ROOT = join(__dirname, '../.tmp/root');
const rows = [];

/** A number, or the times of many runs: the best, beside the median; the best is held against what is asked. */
function told(what, found, unit, asked) {
  const times = [found].flat().sort((a, b) => a - b);
  const digits = times[0] < 20 ? 1 : 0;
  const words =
    times.length > 1
      ? `${times[0].toFixed(digits)} ${unit} (${times[times.length >> 1].toFixed(digits)})`
      : `${times[0].toFixed(0)} ${unit}`;
  rows.push([what, words, asked ? `${asked} ${unit}` : '', asked ? (times[0] <= asked ? 'yes' : 'no') : '']);
}

/** Opens a page from disk; how long until its view stands, in ms. */
async function open(page, name) {
  await page.goto(`file://${join(ROOT, name)}.html`);
  await page.waitForFunction(
    () => document.querySelector('.tfk canvas')?.width > 40 && document.querySelector('[role=status]')?.textContent
  );
  return page.evaluate(() => performance.now());
}

/** What a press of keys in a place takes until the page is laid out anew, in ms, each. */
const pressed = (page, selector, key, times) =>
  page.evaluate(
    async ([where, name, count]) => {
      const found = [];
      for (let i = 0; i < count; i++) {
        await new Promise(requestAnimationFrame);
        const start = performance.now();
        document
          .querySelector(where)
          .dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
        document.body.getBoundingClientRect();
        found.push(performance.now() - start);
      }
      return found;
    },
    [selector, key, times]
  );

test('bytes', () => {
  const scripts = readdirSync(STATIC)
    .filter(name => name !== 'model.js')
    .map(name => [statSync(join(STATIC, name)).size, name]);
  const [size, name] = scripts.sort((a, b) => b[0] - a[0])[0];
  told(`the largest script of a widget, of ${scripts.length} (${name})`, size / 1000, 'kB', 60);
  const sizes = JSON.parse(readFileSync(join(ROOT, 'sizes.json'), 'utf-8'));
  told('60 steps of 12 × 12 heads in a saved notebook', sizes.steps / 1000, 'kB', 512);
  told('60 steps at the end of 512 tokens', sizes.long / 1000, 'kB', 512);
  told('a walk, 12 layers of 12 heads over 16 tokens', sizes.walk / 1000, 'kB', 512);
  told('attention over 512 tokens, 12 × 12 heads', sizes.maps / 1000, 'kB', 1500);
});

test('a step', async ({ page }) => {
  await open(page, 'steps');
  const times = await pressed(page, '.tfk', 'ArrowRight', 40);
  await expect(page.locator('[role=status]')).toHaveText(/^Step 41 of 60/);
  told('a step forward, 12 × 12 heads', times, 'ms', 10);
  const back = await pressed(page, '.tfk', 'ArrowLeft', 40);
  told('a step back', back, 'ms', 10);
});

test('512 tokens', async ({ page }) => {
  const opened = await open(page, 'long');
  const times = await pressed(page, '.tfk', 'ArrowRight', 40);
  told('512 tokens: the stepper stands after', opened, 'ms');
  told('512 tokens: a step', times, 'ms', 50);
  const maps = await open(page, 'maps');
  const moves = await pressed(page, '.tfk-grid', 'ArrowDown', 40);
  told('512 tokens: all 144 heads stand after', maps, 'ms');
  told('512 tokens: a move of the cursor', moves, 'ms', 50);
});

test('a walk', async ({ page }) => {
  const start = Date.now();
  await page.goto(`file://${join(ROOT, 'walk')}.html`);
  await page.waitForSelector('.tfk-walk-row [aria-current]');
  told('a walk, 12 layers of 12 heads over 16 tokens: it stands after', Date.now() - start, 'ms');
  const times = await pressed(page, '.tfk-walk-row [aria-current]', 'ArrowRight', 40);
  told('a walk: the next stage', times, 'ms', 10);
  told('a walk: the stage before', await pressed(page, '.tfk-walk-row [aria-current]', 'ArrowLeft', 40), 'ms', 10);
  const moves = await pressed(page, '.tfk-walk-matrices [data-matrix]', 'ArrowDown', 20);
  told('a walk: a move of the cursor', moves, 'ms', 10);
});

test('from kernel to screen', async ({ page }) => {
  await lab(page, 'frames.ipynb');
  await activate(page, 0);
  await command(page, 'notebook:run-cell');
  await expect(page.locator('.tfkit-Trace > div:last-child .tfk h3')).toHaveText('first', { timeout: 120000 });
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () =>
    1000 * (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value;
  const before = await busy();
  const shown = page.evaluate(async () => {
    const found = [];
    for (let i = 0; i < 12; i++) {
      const stands = () =>
        [...document.querySelectorAll('.tfk')].some(
          node =>
            node.querySelector('h3')?.textContent === `frame ${i}` &&
            node.querySelector('[role=status]').textContent.includes('query')
        );
      while (!stands()) {
        await new Promise(requestAnimationFrame);
      }
      await new Promise(requestAnimationFrame);
      found.push(Date.now());
    }
    return found;
  });
  await activate(page, 1);
  await command(page, 'notebook:run-cell');
  const ended = await shown;
  const spent = (await busy()) - before;
  await activate(page, 2);
  await command(page, 'notebook:run-cell');
  const said = page.locator('.jp-Cell').nth(2).locator('.jp-OutputArea-output');
  await expect(said).toBeVisible();
  const started = JSON.parse(await said.innerText());
  const times = ended.map((time, i) => time - 1000 * started[i]);
  told('a frame of 12 × 12 × 128², from kernel to screen', times, 'ms', 100);
  told('processor time of the page for a frame, and two seconds of waiting for it', spent / 12, 'ms');
});

test.afterAll(async ({ browser }) => {
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${os.arch()}, ${os.cpus().length} cores, load ${os.loadavg()[0].toFixed(0)}, Chromium ${browser.version()}, no GPU`;
  const line = cells => `| ${cells.join(' | ')} |`;
  const table = [['what', 'measured', 'at most', 'met'], ['---', '---', '---', '---'], ...rows].map(line).join('\n');
  const page = `# Benchmarks of the widgets

Written by \`make bench\` on ${day}; ${machine}.
Times are the best of 40 presses of a key, until the page is laid out anew, or of 12 frames, from the assignment in the
kernel to the screen's next frame after it is drawn; medians in brackets. Other work on the machine makes a run longer,
never shorter, so the best is held against the limit. The model has 12 layers of 12 heads and random weights: its
attention is noise, and squeezes worse than that of a trained one.

${table}
`;
  process.env.TABLE ? writeFileSync(process.env.TABLE, page) : console.log(page);
});
