/** The tracks of a course: paths through its units, one of which a student may choose to see alone. */
import { PageConfig } from '@jupyterlab/coreutils';
import type { ITrack, IUnit } from './tokens';

/**
 * The tracks whose units are all here, in the order in which these name them. Of a track whose notebooks have not all been
 * fetched, nobody here knows how long it takes.
 */
export function tracksOf(units: readonly IUnit[]): ITrack[] {
  const named = new Map(units.flatMap(({ tracks }) => tracks ?? []).map(track => [track[0], track]));
  const has = (unit: IUnit, name: string): boolean => !!unit.tracks?.some(([own]) => own === name);
  return Array.from(named.values()).flatMap(([name, title, count]) => {
    const own = units.filter(unit => has(unit, name));
    return new Set(own.map(unit => unit.name)).size === count ? [{ name, title, units: own }] : [];
  });
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
