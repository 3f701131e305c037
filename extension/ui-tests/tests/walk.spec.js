const { expect, test } = require('@playwright/test');
const { accessible, activate, command, lab, readable, setSource, shot, theme } = require('../helpers');

const UNIT = '02-masks/02-masks.ipynb';
const EXERCISE = 'masks.decoder';
const WRONG = `import torch
def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    words = ids != pad_id
    real = words[:, None, None, :]
    return real.repeat(1, 1, length, 1)`;

test('a mistake is walked on the card, line by line, up to where the values part', async ({ page }) => {
  await lab(page, UNIT);
  await activate(page, { role: 'exercise', exercise: EXERCISE });
  await setSource(page, WRONG);
  await page.locator('.jp-mod-active .jp-cell-toolbar').getByText('Check', { exact: true }).click();
  const card = page.locator('.jp-mod-active .tfkit-Verdict');
  await expect(card).toHaveAttribute('data-state', 'failed', { timeout: 90000 });
  const stop = card.locator('.tfkit-v-stop:visible');
  await expect(stop).toHaveCount(0);
  await card.getByRole('button', { name: 'Walk to the mistake' }).click();
  await expect(stop).toHaveCount(1);
  const walk = card.locator('.tfkit-Walk');
  const place = walk.getByRole('status');
  await expect(place).toContainText('1 of 3');
  await shot(page, 'walk-light');

  await page.keyboard.press('ArrowDown');
  await expect(place).toContainText('2 of 3');
  await expect(stop).toContainText('A right answer has this value, too.');
  await page.keyboard.press('End');
  await expect(stop).toContainText('✗ Line');
  await expect(stop.getByRole('table')).toHaveCount(2); // the value and what must hold
  await expect(walk.getByRole('button', { name: 'Next line' })).toHaveAttribute('aria-disabled', 'true');
  await shot(page, 'walk-departing');
  await accessible(page, '.tfkit-Walk');
  await theme(page, 'Dark');
  await shot(page, 'walk-dark');
  await theme(page, 'Light');
  await page.setViewportSize({ width: 390, height: 844 });
  await command(page, 'application:toggle-left-area');
  await walk.scrollIntoViewIfNeeded();
  await shot(page, 'walk-390');
  const [outer, inner] = [await card.boundingBox(), await walk.boundingBox()];
  expect(inner.x + inner.width).toBeLessThanOrEqual(outer.x + outer.width);
  await page.setViewportSize({ width: 1360, height: 1000 });
  await readable(page, 'walk', '.tfkit-Walk');
});
