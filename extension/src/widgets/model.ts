/** The interface of a model that views need; an anywidget's model and a recorded one both implement it. */
export interface IModel {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
  /** Sends a message to the kernel; a recording has no kernel. */
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
    // The view's `tfkit:state` event carries the state to save; the owner of the document listens to it.
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

/** The initial state of a view from the address of the page, `#view-0={…}`. */
export function shownPlace(id: string, hash = location.hash): Record<string, unknown> {
  const [whose, ...rest] = hash.slice(1).split('=');
  if (whose !== id || !rest.length) {
    return {};
  }
  try {
    return JSON.parse(decodeURIComponent(rest.join('='))) as Record<string, unknown>;
  } catch {
    return {}; // a truncated address: the view shows its default state
  }
}

/** The address of the page with the current state of one of its views. */
export function linkTo(root: HTMLElement, state: Record<string, unknown>): string | null {
  const id = root.closest('[id^=view-]')?.id;
  const place = Object.fromEntries(Object.entries(state).filter(([key]) => key !== 'trace' && key !== 'other'));
  return id ? `${location.href.split('#')[0]}#${id}=${encodeURIComponent(JSON.stringify(place))}` : null;
}
