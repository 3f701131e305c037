/** The tracks of a course: paths through its units, one of which a student may choose to see alone. */
import { PageConfig } from '@jupyterlab/coreutils';
import type { ITrack, IUnit } from './tokens';

/** The tracks that the units name, in the order in which they do. */
export function tracksOf(units: readonly IUnit[]): ITrack[] {
  const titles = new Map(units.flatMap(({ tracks }) => tracks ?? []));
  const has = (unit: IUnit, name: string): boolean => !!unit.tracks?.some(([own]) => own === name);
  return Array.from(titles, ([name, title]) => ({ name, title, units: units.filter(unit => has(unit, name)) }));
}

/** The tracks to choose from: those that leave units out. */
export function offeredTracks(units: readonly IUnit[]): ITrack[] {
  return tracksOf(units).filter(track => track.units.length < units.length);
}

/** Where this browser stores the name of the chosen track: of one course, as a site may hold several. */
function place(): string {
  return `tfkit:track:${PageConfig.getBaseUrl()}`;
}

/** The stored name; empty for the whole course, and where the window has no storage. */
export function storedTrack(): string {
  try {
    return localStorage.getItem(place()) ?? '';
  } catch {
    return '';
  }
}

/** Stores the name for the next visit, where the window has a storage. */
export function storeTrack(name: string): void {
  try {
    localStorage.setItem(place(), name);
  } catch (error) {
    console.warn('tfkit: the chosen track is not stored', error);
  }
}
