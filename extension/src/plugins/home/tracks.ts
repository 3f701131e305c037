/** The choice of a track on the home page. */
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IUnit } from '../../shared/tokens';
import { offeredTracks, tracksOf } from '../../shared/tracks';
import { h } from '../../widgets/dom';

/** The hours that the units take, rounded; null where one of them states no time. */
export function hoursOf(units: readonly IUnit[]): number | null {
  const minutes = units.map(unit => unit.minutes);
  return minutes.every(one => one !== null) ? Math.round(minutes.reduce((sum, one) => sum + one, 0) / 60) : null;
}

function extent(units: readonly IUnit[], trans: TranslationBundle): string {
  const hours = hoursOf(units);
  const count = trans._n('%1 unit', '%1 units', units.length);
  return hours ? trans.__('%1, about %2 h', count, hours) : count;
}

/** A button for the whole course and for each track that leaves units out; a single track that leaves none is named. */
export function trackChoice(
  units: readonly IUnit[],
  chosen: string,
  trans: TranslationBundle,
  choose: (name: string) => void
): HTMLElement[] {
  const offered = offeredTracks(units);
  if (!offered.length) {
    const named = tracksOf(units).map(({ title }) =>
      h('p', { className: 'tfkit-Tracks' }, `${title} · ${extent(units, trans)}`)
    );
    return named.length === 1 ? named : [];
  }
  const buttons = [{ name: '', title: trans.__('All units'), units }, ...offered].map(track => {
    const attributes = { type: 'button', 'aria-pressed': String(track.name === chosen) };
    const button = h('button', attributes, h('strong', {}, track.title), ` ${extent(track.units, trans)}`);
    button.dataset.key = `track ${track.name}`;
    button.onclick = () => choose(track.name);
    return button;
  });
  const group = { className: 'tfkit-Tracks', role: 'group', 'aria-label': trans.__('Paths through the course') };
  return [h('div', group, ...buttons)];
}
