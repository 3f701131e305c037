import { LabIcon } from '@jupyterlab/ui-components';

const wrap = (inner: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><g class="jp-icon3" fill="#616161">${inner}</g></svg>`;

export const courseIcon = new LabIcon({
  name: '@tfkit/lab:course',
  svgstr: wrap(
    '<circle cx="2.5" cy="12" r="1.8"/><circle cx="8" cy="12" r="1.8"/><circle cx="13.5" cy="12" r="1.8"/><path d="M1.8 9.4C2.6 1.2 13.4 1.2 14.2 9.4h-1.3C12 3.2 4 3.2 3.1 9.4zM7.3 9.4C7.9 5.6 12 5.4 12.9 9.4h-1.3c-.6-2-2.5-2-3 0z"/>'
  )
});

export const checkIcon = new LabIcon({
  name: '@tfkit/lab:check',
  svgstr: wrap('<path d="M6.2 12.6L1.8 8.2l1.4-1.4 3 3 6.6-6.6 1.4 1.4z"/>')
});

/** A beetle, as debuggers have it. */
export const huntIcon = new LabIcon({
  name: '@tfkit/lab:hunt',
  svgstr: wrap(
    '<path d="M5.4 4.2a2.6 2.6 0 0 1 5.2 0zM4.6 5.2h6.8v1.9h2.9v1.2h-2.9v1.5l2.6 1.5-.6 1-2.2-1.2a3.3 3.3 0 0 1-6.4 0l-2.2 1.2-.6-1 2.6-1.5V8.3H1.7V7.1h2.9z"/>'
  )
});

/** The states differ in shape, not only in colour. */
export const stateIcons = {
  not_started: new LabIcon({
    name: '@tfkit/lab:not-started',
    svgstr: wrap('<path d="M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zm0 1.6a4.4 4.4 0 1 1 0 8.8 4.4 4.4 0 0 1 0-8.8z"/>')
  }),
  passed: new LabIcon({
    name: '@tfkit/lab:passed',
    svgstr: wrap('<path d="M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM7 11.4L3.9 8.3 5 7.2l2 2 4-4 1.1 1.1z"/>')
  }),
  failed: new LabIcon({
    name: '@tfkit/lab:failed',
    svgstr: wrap(
      '<path d="M3.3 2.2L8 6.9l4.7-4.7 1.1 1.1L9.1 8l4.7 4.7-1.1 1.1L8 9.1l-4.7 4.7-1.1-1.1L6.9 8 2.2 3.3z"/>'
    )
  }),
  not_graded: new LabIcon({
    name: '@tfkit/lab:not-graded',
    svgstr: wrap('<path d="M8 1.5l7 12.5H1zM7.3 6v4h1.4V6zm0 5v1.4h1.4V11z"/>')
  })
};
