/** The first minute in the lab, frame by frame: home page, lesson, a wrong answer, its card, the walk to the mistake, a right answer. */
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const { lab, setSource } = require('../helpers');

const FOLDER = process.env.PICTURES || 'screenshots';
const [WRONG, RIGHT] = ['triu', 'tril'].map(
  name => `def causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool).${name}()`
);
const TYPED = 14; // characters from frame to frame

test('the first minute', async ({ page }) => {
  let count = 0;
  /** A frame that is shown for `ms`; its name says so. */
  const frame = async ms => {
    const name = `${String(count++).padStart(3, '0')}-${ms}.png`;
    await page.screenshot({ path: join(FOLDER, name), animations: 'disabled' });
  };
  /** Shows where one clicks, and clicks. */
  const click = async target => {
    await target.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await target.boundingBox();
    await page.evaluate(
      ([left, top]) => {
        const dot = document.body.appendChild(document.createElement('i'));
        dot.id = 'film-pointer';
        dot.style.cssText = `position:fixed;left:${left - 14}px;top:${top - 14}px;width:28px;height:28px;z-index:99999;
          border-radius:50%;background:#f5820088;border:2px solid #f58200;pointer-events:none`;
      },
      [x + Math.min(width / 2, 60), y + height / 2]
    );
    await frame(700);
    await page.evaluate(() => document.getElementById('film-pointer').remove());
    await target.click();
  };
  const typed = async text => {
    for (let end = text.indexOf('torch.'); end < text.length; end += TYPED) {
      await setSource(page, text.slice(0, end));
      await frame(160);
    }
    await setSource(page, text);
    await frame(600);
  };
  const cell = page.locator('.jp-CodeCell[data-tfkit-display="exercise"]').first();
  const checked = async state => {
    await click(cell.getByRole('button', { name: 'Check', exact: true }));
    await frame(500);
    const card = cell.locator('.tfkit-Verdict');
    await expect(card).toHaveAttribute('data-state', state, { timeout: 180000 });
    await cell.evaluate(node => node.scrollIntoView({ block: 'start' }));
    await page.waitForTimeout(400);
    await frame(2600);
    return card;
  };

  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1200, height: 760 });
  await lab(page, undefined, { reading: true });
  await page.getByRole('button', { name: 'No, thank you' }).click();
  const news = page.locator('.Toastify__toast', { hasText: 'Jupyter news' });
  if (await news.isVisible()) {
    await news.getByRole('button', { name: 'No', exact: true }).click();
    await expect(news).toHaveCount(0);
  }
  await frame(1600);
  await click(page.locator('#tfkit-home .tfkit-Card', { hasText: 'Masks' }).first());
  await expect(page.locator('.tfkit-R-coverPart')).toBeVisible({ timeout: 60000 });
  await expect(page.locator('.tfkit-R-setupPart')).toContainText('run ✓', { timeout: 120000 });
  await page
    .locator('.jp-NotebookPanel .jp-WindowedPanel-outer')
    .first()
    .evaluate(node => node.scrollTo(0, 0));
  await frame(2000);
  await page
    .locator('.tfkit-R-predictPart')
    .first()
    .evaluate(node => node.scrollIntoView({ block: 'center' }));
  await page.waitForTimeout(400);
  await frame(1600);
  await page.evaluate(() => {
    const { content } = window.jupyterapp.shell.currentWidget;
    content.activeCellIndex = content.widgets.findIndex(
      ({ model }) => model.getMetadata('tfkit')?.exercise === 'masks.causal'
    );
    return content.scrollToItem(content.activeCellIndex, 'start');
  });
  await typed(WRONG);
  const card = await checked('failed');
  const walk = card.getByRole('button', { name: 'Walk to the mistake' });
  if (await walk.count()) {
    await click(walk);
    await frame(1400);
    for (let step = 0; step < 3; step++) {
      await page.keyboard.press('ArrowRight');
      await frame(1200);
    }
  }
  await page.evaluate(() => document.querySelector('.jp-NotebookPanel').focus());
  await cell.evaluate(node => node.scrollIntoView({ block: 'start' }));
  await typed(RIGHT);
  await checked('passed');
  await frame(1500);
});
