const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const { accessible, excessWidth, openPage } = require('../helpers');

const KINDS = [
  'Decoding stepper',
  'Attention',
  'Matrices',
  'Corruption',
  'Retrieval',
  'Training',
  'Anatomy',
  'Walk through one step',
  'Logit lens',
  'Heads',
  'Contributions'
];

for (const colorScheme of ['light', 'dark']) {
  test(`every view works from disk, by keyboard, with no network, and axe finds nothing (${colorScheme})`, async ({
    page
  }) => {
    const asked = [];
    page.on('request', request => asked.push(request.url()));
    page.on('pageerror', error => asked.push(String(error)));
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await openPage(page, 'views.html');
    for (const name of KINDS) {
      await expect(page.getByRole('group', { name, exact: true }).first()).toBeVisible();
    }
    await expect(page.locator('[role=alert], .tfk-error')).toHaveCount(0);
    const matrices = page.getByRole('group', { name: 'Matrices', exact: true });
    await matrices.getByRole('application').first().focus();
    await expect(matrices.locator('[role=status]')).toHaveText(/query 4 “on”, key 4 “on”: yes/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await expect(matrices.locator('[role=status]')).toHaveText(/query 5 “the”, key 5 “the”: yes/);
    await page.getByRole('button', { name: 'layers.1.attn, head 2' }).press('Enter');
    await expect(page.getByRole('button', { name: 'layers.1.attn, head 2' })).toHaveAttribute('aria-pressed', 'true');
    await page.getByRole('button', { name: 'Draw again' }).press('Enter');
    await expect(page.getByText('draw 2 of 6')).toBeVisible();
    const walk = page.getByRole('group', { name: 'Walk through one step', exact: true });
    await walk.getByRole('button', { name: 'layer 1: scores' }).press('Enter');
    await page.keyboard.press('ArrowLeft');
    await expect(walk.locator('[aria-current]')).toHaveText('layer 1: Q, K, V');
    await walk.getByRole('rowheader', { name: 'cat' }).first().hover();
    expect(await page.locator('.tfk-lit').count()).toBeGreaterThan(3);
    const lens = page.getByRole('group', { name: 'Logit lens', exact: true });
    await lens.getByRole('application').press('Home');
    await lens.getByRole('application').press('ArrowUp');
    await expect(lens.locator('.tfk-heat-about h4')).toHaveText('layer 0 · the');
    await lens.getByRole('cell').first().hover();
    await page
      .getByRole('group', { name: 'Heads', exact: true })
      .getByRole('button', { name: /layer/ })
      .nth(1)
      .press('Enter');
    const contributions = page.getByRole('group', { name: 'Contributions', exact: true });
    await contributions.getByRole('application').press('End');
    await expect(contributions.getByRole('status')).toHaveText(/^rest: /);
    const [drawing] = await Promise.all([
      page.waitForEvent('download'),
      walk.getByRole('button', { name: 'SVG' }).click()
    ]);
    expect(readFileSync(await drawing.path(), 'utf-8')).toMatch(/^<svg .*>black<\/text>/s);
    await page.screenshot({ path: `screenshots/views-${colorScheme}.png`, fullPage: true });
    await accessible(page);
    expect(asked.filter(url => !url.startsWith('file:') && !url.startsWith('data:'))).toEqual([]);
  });
}

const luminance = ([r, g, b]) => {
  const [red, green, blue] = [r, g, b].map(c => (c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

for (const [name, look] of Object.entries({
  'light, more contrast': { colorScheme: 'light', contrast: 'more' },
  'dark, more contrast': { colorScheme: 'dark', contrast: 'more' },
  'light, forced colours': { colorScheme: 'light', forcedColors: 'active' },
  'dark, forced colours': { colorScheme: 'dark', forcedColors: 'active' }
})) {
  test(`squares, hatches, chips and bars can be told apart (${name})`, async ({ page }) => {
    await page.emulateMedia({ ...look, reducedMotion: 'reduce' });
    await openPage(page, 'views.html');
    const masks = page.getByRole('group', { name: 'Matrices', exact: true });
    const [yes, line, no] = await masks
      .locator('canvas')
      .first()
      .evaluate(canvas => {
        const side = Math.round(canvas.width / 9); // nine words
        const at = x => [...canvas.getContext('2d').getImageData(x, Math.round(1.5 * side), 1, 1).data];
        return [at(Math.round(1.5 * side)), at(3 * side - 1), at(Math.round(3.5 * side))];
      });
    expect(contrast(yes, no)).toBeGreaterThan(7);
    expect(contrast(yes, line)).toBeGreaterThan(2.5);
    expect(contrast(no, line)).toBeGreaterThan(3);
    const painted = selector =>
      page
        .locator(selector)
        .first()
        .evaluate((node, forced) => {
          const { backgroundColor, backgroundImage, forcedColorAdjust } = getComputedStyle(node);
          const found = backgroundColor === 'rgba(0, 0, 0, 0)' ? backgroundImage : 'colour';
          return forced && forcedColorAdjust !== 'none' ? 'taken away' : found;
        }, look.forcedColors);
    for (const colour of ['.tfk-now', '.tfk-p', 'i.tfk-t-attention', '.tfk-heat td[data-row]']) {
      expect(await painted(colour), colour).toBe('colour');
    }
    for (const hatched of ['.tfk-ahead', '.tfk-hidden:empty', '.tfk-ramp']) {
      expect(await painted(hatched), hatched).toContain('gradient');
    }
    await page.screenshot({ path: `screenshots/views-${name.replace(/\W+/g, '-')}.png`, fullPage: true });
    await accessible(page);
  });
}

/** How many nodes each press of a key puts into the page; what a step costs in time is measured by `make bench`. */
const drawnBy = (page, key, presses) =>
  page.evaluate(
    async ([key, presses]) => {
      const view = document.querySelector('.tfk');
      const found = [];
      const size = node => 1 + (node.querySelectorAll?.('*').length ?? 0);
      new MutationObserver(records => {
        for (const node of records.flatMap(record => [...record.addedNodes])) {
          found[found.length - 1] += size(node);
        }
      }).observe(document.body, { childList: true, subtree: true });
      for (let i = 0; i < presses; i++) {
        found.push(0);
        view.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        await new Promise(requestAnimationFrame);
      }
      return found;
    },
    [key, presses]
  );

test('a step draws a few hundred nodes, both ways', async ({ page }) => {
  await openPage(page, 'page.html');
  const forth = await drawnBy(page, 'ArrowRight', 5);
  const back = await drawnBy(page, 'ArrowLeft', 5);
  for (const nodes of [...forth, ...back]) {
    expect(nodes).toBeGreaterThan(0);
    expect(nodes).toBeLessThan(500);
  }
});

test('the status page updates itself, and keeps focus and scroll positions', async ({ page }) => {
  const script = readFileSync(join(__dirname, '../../../autograder/serve/status.js'), 'utf-8');
  const row = n => `<tr><th>02-masks</th>${'<td>a long cell of the table</td>'.repeat(20)}<td>${n} graded</td></tr>`;
  const box = (name, n) =>
    `<h2>${name}</h2><div class="scroll" role="group" aria-label="${name}" tabindex="0"><table>${row(n)}</table></div>`;
  const read = n =>
    `<!doctype html><style>.scroll{overflow:auto;white-space:nowrap}main{min-height:300vh}</style>` +
    `<main><h1>Grading</h1>${box('first', 7)}${box('second', n)}</main><script>${script}</script>`;
  let answer = { contentType: 'text/html', body: read(1) };
  await page.clock.install();
  await page.route('http://grader.test/', route => route.fulfill(answer));
  await page.goto('http://grader.test/');
  const second = page.getByRole('group', { name: 'second' });
  await second.focus();
  await second.evaluate(node => (node.scrollLeft = 50));
  await page.evaluate(() => window.scrollTo(0, 40));
  answer = { ...answer, body: read(2) };
  await page.clock.runFor(31000);
  await expect(second).toContainText('2 graded');
  await expect(second).toBeFocused();
  expect(await second.evaluate(node => [node.scrollLeft, window.scrollY])).toEqual([50, 40]);
  answer = { status: 503, body: 'gone' };
  await page.clock.runFor(31000);
  await expect(page.getByRole('status')).toHaveText(/has not answered since .*: load the page again/);
  await expect(second).toContainText('2 graded');
  answer = { contentType: 'text/html', body: read(2) };
  await page.clock.runFor(31000);
  await expect(page.getByRole('status')).toBeEmpty();
});

test('the tree stands beside the maps where there is room; by touch and at 200 % nothing is out of reach', async ({
  browser
}) => {
  const context = await browser.newContext({ viewport: { width: 1360, height: 1000 }, hasTouch: true });
  const page = await context.newPage();
  await openPage(page, 'page.html');
  const group = name => page.getByRole('group', { name, exact: true }).first();
  const beside = async () => {
    const [tree, maps] = [await group('Beam').boundingBox(), await group('Self-attention').boundingBox()];
    return tree.x >= maps.x + maps.width && tree.y < maps.y + maps.height;
  };
  await expect.poll(beside).toBe(true);
  const forward = page.getByRole('button', { name: 'Step forward', exact: true });
  for (const [width, height] of [
    [680, 500], // what a window of 1360 × 1000 has at 200 %
    [380, 800]
  ]) {
    await page.setViewportSize({ width, height });
    await expect.poll(beside).toBe(false);
    expect(await excessWidth(page)).toBeLessThanOrEqual(0);
    await group('Beam').scrollIntoViewIfNeeded();
    await forward.tap(); // the controls are still in sight
  }
  await expect(page.locator('[role=status]')).toHaveText(/^Step 3 of 6/);
  await openPage(page, 'views.html');
  const map = group('Attention').locator('.tfk-grid').last();
  await map.evaluate(node => {
    node.style.width = '120px';
    node.scrollLeft = 80;
  });
  const [names, box] = [await map.locator('.tfk-axis-rows').boundingBox(), await map.boundingBox()];
  expect(names.x).toBeGreaterThanOrEqual(box.x); // the names of the rows stay
  await page.screenshot({ path: 'screenshots/views-touch.png' });
  await context.close();
});

test('512 tokens can be stepped through', async ({ page }) => {
  await openPage(page, 'long.html');
  const said = page.locator('[role=status]');
  await expect(said).toHaveText(/^Step 1 of 60/, { timeout: 30000 });
  await expect(page.locator('canvas').first()).toHaveAttribute('aria-label', /attends most to/, { timeout: 30000 });
  const drawn = await drawnBy(page, 'ArrowRight', 40);
  expect(Math.min(...drawn)).toBeGreaterThan(0);
  expect(Math.max(...drawn)).toBeLessThan(2 * 512); // one or two for each token, however many heads there are
  await expect(said).toHaveText(/^Step 41 of 60/);
  await page.locator('.tfk').focus();
  await page.keyboard.press('End');
  await expect(said).toHaveText(/^Step 60 of 60/);
  await expect(page.getByRole('list', { name: 'Tokens so far' }).getByRole('listitem')).toHaveCount(512);
  await page.screenshot({ path: 'screenshots/long.png' });
});
