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

test('the class panel tells how the class does, and leads to an answer and its notebook', async ({ page }) => {
  await lab(page);
  await command(page, 'tfkit:show-class');
  const panel = page.locator('#tfkit-class');
  await expect(panel.locator(STUDENTS)).toHaveCount(3);
  await expect(panel.locator(STUDENTS).nth(1)).toContainText('not yet right own position hidden');
  await expect(panel.locator(`${ASSIGNMENT} ol li span`)).toHaveText(
    'Causal mask: Your mask hides each position from itself, so the first position sees nothing at all. 2 students'
  );
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
  const answer = panel.locator('.tfkit-Answer-part');
  await expect(answer.locator('h4')).toHaveText('ben · Causal mask');
  await expect(answer.locator('.tfkit-verdict')).toContainText('not yet right');
  await answer.getByRole('button', { name: 'Open the notebook here' }).click();
  await page.waitForFunction(() => {
    const { currentWidget } = window.jupyterapp.shell;
    const place = currentWidget?.content?.activeCell?.model.getMetadata('tfkit');
    return (
      currentWidget?.context?.path === 'class/autograded/ben/02-masks/02-masks.ipynb' &&
      place?.exercise === 'masks.causal'
    );
  });
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

test('the class is watched live, by number and by name where that is asked, and item by item', async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 1200 });
  await lab(page);
  await command(page, 'tfkit:class-page');
  const whole = page.locator('#tfkit-class');
  const now = whole.locator('.tfkit-Live');
  const row = now.locator('tbody tr', { has: page.locator('th', { hasText: 'Causal mask' }) });
  await expect(row.locator('td').nth(3)).toHaveText('2');
  await expect(row).toContainText('Your mask hides each position from itself');
  await expect(whole.getByRole('status').first()).toContainText('2 are stuck');
  await expect(whole.locator('.tfkit-Submissions')).toContainText('Student 2');
  await expect(whole).not.toContainText('ben');
  await whole.getByRole('checkbox', { name: 'Names' }).check();
  const stuck = () => `6 checks failed in ${Math.floor((Date.now() - firstFailure()) / 60000)} min`;
  const ben = whole.locator('.tfkit-People tbody tr', { has: page.locator('th', { hasText: 'ben' }) });
  await expect.poll(async () => (await ben.textContent()).includes(stuck()), { timeout: 30000 }).toBe(true);
  await whole.getByRole('checkbox', { name: 'Names' }).uncheck();
  await expect(whole).not.toContainText('ben');
  await expect(whole.locator('.tfkit-Predictions')).toContainText('How many parameters with 8 heads?');

  await whole.getByRole('button', { name: '2 are stuck on Causal mask' }).click();
  await expect(row).toBeFocused();
  await row.getByRole('button', { name: 'Show to all' }).click();
  const shown = page.getByRole('dialog');
  await expect(shown.locator('pre')).toContainText('tril(diagonal=-1)');
  await accessible(page, '.tfkit-Project');
  await shot(page, 'class-project');
  await page.keyboard.press('Escape');
  await expect(shown).toHaveCount(0);

  await whole.getByRole('button', { name: /06-training/ }).click();
  await whole.getByText('Item analysis').click();
  const values = whole.locator('.tfkit-Analysis tbody tr', { hasText: 'values' });
  await expect(values).toContainText('5 of 7', { timeout: 60000 });
  const file = page.waitForEvent('download');
  await whole.getByRole('button', { name: 'Save the table as CSV' }).click();
  expect((await file).suggestedFilename()).toBe('06-training.csv');
  expect(readFileSync(await (await file).path(), 'utf-8')).toMatch(
    /^exercise,check,.*\r?\nmasks\.causal,shapes and types,/
  );

  await accessible(page, '#tfkit-class');
  await shot(page, 'class-live');
  await theme(page, 'Dark');
  await accessible(page, '#tfkit-class');
  await shot(page, 'class-live-dark');
  await page.setViewportSize({ width: 390, height: 844 });
  await command(page, 'application:toggle-left-area');
  const width = () => whole.evaluate(node => node.scrollWidth - node.clientWidth);
  await expect.poll(width).toBe(0); // nothing has to be scrolled to sideways
  await shot(page, 'class-live-390');
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
