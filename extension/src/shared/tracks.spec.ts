import { PageConfig } from '@jupyterlab/coreutils';
import { nullTranslator } from '@jupyterlab/translation';
import { ServerConnection } from '@jupyterlab/services';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Course } from '../plugins/course/course';
import { HomePage } from '../plugins/home/page';
import { CoursePanel } from '../plugins/panel/panel';
import { nextIn } from './nextStep';
import type { IUnit } from './tokens';
import { offeredTracks, storedTrack, storeTrack, tracksOf } from './tracks';

vi.mock('@jupyterlab/notebook', () => ({})); // it needs a browser, as the icons do
vi.mock('@jupyterlab/ui-components', () => {
  const LabIcon = class {
    element = (): HTMLElement => document.createElement('span');
  };
  return { LabIcon, searchIcon: new LabIcon() };
});

const exercise = (id: string): unknown => ({ id, title: id, state: 'not_started', score: 0, max_score: 1, at: null });
const SIZES: Record<string, number> = { zoo: 3, core: 2 };
const unit = (name: string, ...tracks: string[]): IUnit =>
  ({
    path: `${name}.ipynb`,
    name,
    title: name,
    about: '',
    minutes: 60,
    due: null,
    exercises: [exercise(`in ${name}`)],
    predictions: { asked: 0, made: 0 },
    terms: [],
    tracks: tracks.map(track => [track, track.toUpperCase(), SIZES[track]])
  }) as unknown as IUnit;
const units = [unit('01', 'zoo'), unit('04', 'zoo', 'core'), unit('05', 'core', 'zoo')];
const trans = nullTranslator.load('');

/** A course that serves these units. */
async function courseOf(found: readonly IUnit[]): Promise<Course> {
  vi.stubGlobal(
    'fetch',
    vi.fn(() => Promise.resolve(new Response(JSON.stringify({ units: found }))))
  );
  const course = new Course(ServerConnection.makeSettings());
  await course.refresh();
  expect(course.error).toBeNull();
  return course;
}

beforeEach(() => {
  PageConfig.setOption('baseUrl', 'http://here/course/');
  PageConfig.setOption('tfkitTab', 'true');
});
afterEach(() => {
  PageConfig.setOption('tfkitTab', '');
  localStorage.clear();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('has the units that name a track, in the order of the course, and the tracks as the units name them', () => {
  expect(tracksOf(units).map(track => [track.name, track.title, track.units.map(({ name }) => name)])).toEqual([
    ['zoo', 'ZOO', ['01', '04', '05']],
    ['core', 'CORE', ['04', '05']]
  ]);
});

it('offers those that leave units out, and only where all of their units are here', () => {
  const offered = (found: readonly IUnit[]): string[] => offeredTracks(found).map(({ name }) => name);
  expect(offered(units)).toEqual(['core']);
  expect(offered([unit('06'), ...units])).toEqual(['zoo', 'core']);
  expect(offered([unit('06'), ...units.slice(1)])).toEqual(['core']);
  expect(offered([unit('06'), units[2]])).toEqual([]);
  expect(offered([unit('06'), units[2], units[2]])).toEqual([]); // two copies of one notebook
});

it('lets a chosen track say what comes next on the panel, the home page and the cards', async () => {
  const course = await courseOf(units);
  const [panel, home] = [new CoursePanel(course, trans, vi.fn(), vi.fn()), new HomePage(course, trans, vi.fn())];
  const said = (): (string | undefined)[] => [
    nextIn(course)?.exercise?.id,
    panel.node.querySelector('.tfkit-Next')?.textContent,
    home.node.querySelector('.tfkit-Resume h2')?.textContent
  ];
  expect(said()).toEqual(['in 01', 'Next: in 01 (01)', 'in 01']);
  home.node.querySelector<HTMLElement>('[data-key="track core"]')!.click();
  expect(said()).toEqual(['in 04', 'Next: in 04 (04)', 'in 04']);
  expect(nextIn(course, 'in 01')?.exercise?.id).toBe('in 04'); // from the card of an exercise that the track leaves out
  home.node.querySelector<HTMLElement>('[data-key="track "]')!.click();
  expect(said()).toEqual(['in 01', 'Next: in 01 (01)', 'in 01']);
});

it('is what the panel lists: the units that it leaves out are folded below, and stay open once they are opened', async () => {
  const course = await courseOf(units);
  const { node } = new CoursePanel(course, trans, vi.fn(), vi.fn());
  const named = (within: string): (string | null)[] =>
    [...node.querySelectorAll(within)].map(section => section.getAttribute('aria-label'));
  expect(named('section')).toEqual(['01', '04', '05']);
  expect(node.querySelector('details')).toBeNull();
  course.chooseTrack('core');
  expect(named(':scope > section')).toEqual(['04', '05']);
  expect(named('details section')).toEqual(['01']);
  const folded = node.querySelector('details')!;
  expect(folded.open).toBe(false);
  expect(folded.querySelector('summary')!.textContent).toBe('1 unit outside the track');
  folded.open = true;
  folded.dispatchEvent(new Event('toggle'));
  course.chooseTrack('core');
  expect(node.querySelector('details')!.open).toBe(true);
});

it('is chosen again at the next visit, as long as it is offered', async () => {
  (await courseOf(units)).chooseTrack('core');
  expect((await courseOf(units)).track?.name).toBe('core');
  const less = await courseOf(units.slice(1)); // the track is all of it
  const home = new HomePage(less, trans, vi.fn());
  expect(less.track).toBeNull();
  expect(home.node.querySelectorAll('.tfkit-Tracks button[aria-pressed="true"]')).toHaveLength(0);
  const zoo = await courseOf([...units.slice(1), unit('06')]);
  zoo.chooseTrack('gone');
  expect(new HomePage(zoo, trans, vi.fn()).node.querySelector('[aria-pressed="true"]')?.textContent).toContain(
    'All units'
  );
});

it('is stored for one course, and a window without storage has the whole course', () => {
  storeTrack('core');
  expect(storedTrack()).toBe('core');
  PageConfig.setOption('baseUrl', 'http://here/another/');
  expect(storedTrack()).toBe('');
  const refuse = (): never => {
    throw new Error('refused');
  };
  vi.stubGlobal('localStorage', { getItem: refuse, setItem: refuse, clear: () => undefined });
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  storeTrack('core');
  expect(warned).toHaveBeenCalledOnce();
  expect(storedTrack()).toBe('');
});
