/** Requests to the server extension. */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { translated } from '../widgets/words';
import { answerInTab, inTab } from './tab';

/** The JSON response of a route; an error response becomes an Error with the server's message. */
export async function request<T>(
  settings: ServerConnection.ISettings,
  route: string,
  init: RequestInit = {}
): Promise<T> {
  if (inTab()) {
    return (await answerInTab(route, init)) as T;
  }
  const url = URLExt.join(settings.baseUrl, 'tfkit', route);
  const response = await ServerConnection.makeRequest(url, init, settings).catch((error: unknown) => {
    if (init.signal?.aborted) {
      throw error; // the caller cancelled it
    }
    throw new Error(
      translated('The server does not answer: start it again. Until then, your changes are kept in this tab.')
    );
  });
  const text = await response.text();
  let body: { message?: string };
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    throw new Error(`${url} answered ${response.status} and no JSON: is the tfkit server extension enabled?`);
  }
  if (!response.ok) {
    throw new Error(body.message || `${url} answered ${response.status}`);
  }
  return body as T;
}
