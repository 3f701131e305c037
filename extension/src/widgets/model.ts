/** What a view needs of a model: an anywidget's model has it, and so has a recorded one. */
export interface IModel {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
  /** Ask the kernel; a recording has none to ask. */
  send?(message: Record<string, unknown>): void;
}

/** What anywidget hands to a module's `render`. */
export interface IRenderProps {
  model: IModel;
  el: HTMLElement;
}

/** A model over plain data: no kernel, no comm. */
export class RecordedModel implements IModel {
  constructor(private _state: Record<string, unknown>) {}

  get(key: string): unknown {
    return this._state[key];
  }

  set(key: string, value: unknown): void {
    this._state[key] = value;
    this._callbacks.get(`change:${key}`)?.forEach(callback => callback());
  }

  save_changes(): void {
    // What is kept is said by the view's `tfkit:state` event; whoever holds the document listens to it.
  }

  on(event: string, callback: () => void): void {
    const known = this._callbacks.get(event) ?? new Set();
    this._callbacks.set(event, known.add(callback));
  }

  off(event: string, callback: () => void): void {
    this._callbacks.get(event)?.delete(callback);
  }

  private readonly _callbacks = new Map<string, Set<() => void>>();
}

/** What the address of a page says of one of its views, `#view-0={…}`: what it is to show at first. */
export function shownPlace(id: string, hash = location.hash): Record<string, unknown> {
  const [whose, ...rest] = hash.slice(1).split('=');
  if (whose !== id || !rest.length) {
    return {};
  }
  try {
    return JSON.parse(decodeURIComponent(rest.join('='))) as Record<string, unknown>;
  } catch {
    return {}; // an address that somebody shortened: the view shows what it shows to all
  }
}

/** The address at which a page shows what one of its views shows now. */
export function linkTo(root: HTMLElement, state: Record<string, unknown>): string | null {
  const id = root.closest('[id^=view-]')?.id;
  const place = Object.fromEntries(Object.entries(state).filter(([key]) => key !== 'trace' && key !== 'other'));
  return id ? `${location.href.split('#')[0]}#${id}=${encodeURIComponent(JSON.stringify(place))}` : null;
}
