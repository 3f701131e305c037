const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { expect, test } = require('@playwright/test');
const { SERVER, accessible, command, lab, readable, shot, theme } = require('../helpers');

const ASSIGNMENT = 'section[aria-label="02-masks"]';
/** When ben's first failing check was, which prepare.py dates 24 minutes before the tests began: milliseconds. */
const firstFailure = () => {
  const file = join(__dirname, '../.tmp/predictions/ben.0123456789abcdef.progress.json');
  return Date.parse(JSON.parse(readFileSync(file, 'utf-8')).exercises['masks.causal'].since);
};
const STUDENTS = `${ASSIGNMENT} .tfkit-Class-table tbody tr`;

test('the class panel tells how the class does, and opens a submission', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:show-class');
  const panel = page.locator('#tfkit-class');
  await expect(panel.locator(STUDENTS)).toHaveCount(3);
  await expect(panel.locator(STUDENTS).nth(1)).toContainText('not yet right own position hidden');
  await expect(panel.locator(`${ASSIGNMENT} ol li`)).toHaveText('own position hidden (masks.causal): 2 students');
  const places = panel.locator('.tfkit-Leaderboard tbody tr');
  await expect(places).toHaveText(['1Ada0.6740.104', '2anonymous0.8210.251']);
  await expect(panel.locator('.tfkit-Leaderboard')).toContainText('1 other is not listed');
  const only = panel.locator(ASSIGNMENT).getByRole('checkbox', { name: 'Only those who have not passed everything' });
  await only.check();
  await expect(panel.locator(`${STUDENTS}:visible`)).toHaveCount(2);
  await shot(page, 'class-panel-open');
  await only.uncheck();
  await accessible(page, '#tfkit-class');
  await panel.locator(ASSIGNMENT).getByRole('button', { name: 'ben' }).click();
  await page.waitForFunction(
    () => window.jupyterapp.shell.currentWidget?.context?.path === 'class/autograded/ben/02-masks/02-masks.ipynb'
  );
  await shot(page, 'class-panel');
});

test('grading starts in a terminal of the course folder', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:show-class');
  await page.locator(`#tfkit-class ${ASSIGNMENT}`).getByRole('button', { name: 'Grade in a terminal' }).click();
  const text = () =>
    page.evaluate(() => {
      const buffer = window.jupyterapp.shell.currentWidget?.content?._term?.buffer.active;
      return buffer
        ? Array.from({ length: buffer.length }, (_, i) => buffer.getLine(i).translateToString(true)).join('\n')
        : '';
    });
  await expect.poll(text, { timeout: 60000 }).toContain("-m autograder grade . '02-masks'");
  await expect.poll(text, { timeout: 90000 }).toContain('has no nbgrader_config.py');
});

test('the class is watched live, by number and by name where that is asked', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:class-page');
  const now = page.locator('#tfkit-class .tfkit-Live');
  const row = now.locator('tbody tr', { has: page.locator('th', { hasText: 'masks.causal' }) });
  await expect(row.locator('td')).toHaveText(['3', '1', '2']);
  await expect(now).toContainText('own position hidden: 3 students');
  await expect(now).not.toContainText('ben');
  await now.getByRole('checkbox', { name: 'Names' }).check();
  const stuck = () => `ben · 6 checks failed in ${Math.floor((Date.now() - firstFailure()) / 60000)} min`;
  await expect.poll(async () => (await now.textContent()).includes(stuck()), { timeout: 30000 }).toBe(true);
  await now.getByRole('checkbox', { name: 'Names' }).uncheck();
  await expect(now).not.toContainText('ben');
  await expect(page.locator('#tfkit-class .tfkit-Predictions')).toContainText('How many parameters with 8 heads?');
  await accessible(page, '#tfkit-class');
  await shot(page, 'class-live');
  await theme(page, 'Dark');
  await accessible(page, '#tfkit-class');
  await shot(page, 'class-live-dark');
  await readable(page, 'class-live', '#tfkit-class');
});

test('answers are marked by the rubric, by key, and a request is answered', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:marking');
  const marking = page.locator('#tfkit-marking');
  const group = marking.locator('.tfkit-Group').first();
  await expect(group.locator('summary')).toContainText('3 similar answers');
  await expect(group.locator('.tfkit-Prose strong').first()).toHaveText('sees the next token');
  await expect(group.locator('math').first()).toBeVisible();
  await accessible(page, '#tfkit-marking');
  await shot(page, 'marking');
  await readable(page, 'marking', '#tfkit-marking');
  await group.locator('.tfkit-RubricItem input').first().focus();
  await page.keyboard.press('1');
  await expect(group.getByLabel('Points')).toHaveValue('1');
  await page.keyboard.press('Control+Enter');
  await expect(marking.locator('.tfkit-Group').first()).toContainText('✓ marked');
  await marking.getByRole('button', { name: 'Regrade requests' }).click();
  const asked = marking.locator('.tfkit-Request');
  await expect(asked).toHaveCount(2);
  await expect(asked.first()).toContainText('My mask hides the own position on purpose');
  await accessible(page, '#tfkit-marking');
  await shot(page, 'marking-requests');
  await asked.first().getByLabel('A sentence for the student').fill('A position may see itself here.');
  await asked.first().getByRole('button', { name: 'Decline' }).click();
  await expect(asked).toHaveCount(2); // one waits, one is below the answered ones
  await expect(marking).toContainText('1 request waits for an answer');
  await theme(page, 'Dark');
  await page.setViewportSize({ width: 380, height: 900 });
  await command(page, 'application:toggle-left-area');
  await accessible(page, '#tfkit-marking');
  await shot(page, 'marking-requests-narrow-dark');
});

test('two markers of one answer lose neither mark, and a changed item changes marks', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:marking');
  const marking = page.locator('#tfkit-marking');
  const named = { has: page.locator('summary', { hasText: 'overfitting' }) };
  const group = marking.locator('.tfkit-Group', named);
  await group.locator('.tfkit-RubricItem input').nth(2).check();
  const of = { course: 'marking', assignment: '06-training', notebook: '06-training', cell: 'task-too-good' };
  const other = { ...of, seen: { dora: 0 }, score: 0.5, own: 'Half an idea.', chosen: [] };
  const headers = { Authorization: 'token tests' };
  const given = await page.request.post(`${SERVER}/tfkit/marking/mark`, { data: other, headers });
  expect(given.ok(), await given.text()).toBe(true);
  await group.getByRole('button', { name: 'Give to 2 answers' }).click();
  const conflict = marking.locator('.tfkit-Conflict');
  await expect(conflict).toContainText('1 answer was marked by someone else meanwhile');
  await expect(conflict).toContainText('Half an idea.');
  await accessible(page, '#tfkit-marking');
  await shot(page, 'marking-conflict');
  await conflict.getByRole('button', { name: 'Replace with my mark' }).click();
  await expect(conflict).toHaveCount(0);
  const done = marking.locator('.tfkit-Group.tfkit-done', named);
  await done.locator('summary').click();
  await done.getByRole('button', { name: /^Change this item: Not enough/ }).click();
  await done.getByLabel('Points of the item').fill('0.5');
  await shot(page, 'marking-rubric');
  await done.getByRole('button', { name: 'Change, with 2 marks' }).click();
  await expect(marking.locator('.tfkit-MarkState', { hasText: '0.5 of 2' })).toHaveCount(2);
  await marking.getByRole('button', { name: 'Share' }).click();
  await marking.getByLabel('Markers, separated by commas').fill('eve, otto');
  await marking.getByRole('button', { name: 'Share evenly' }).click();
  await expect(marking.locator('tbody th')).toHaveText(['eve', 'otto']);
  await accessible(page, '#tfkit-marking');
  await shot(page, 'marking-shares');
});
