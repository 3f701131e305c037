/** Bundles each view, and each other widget, as a module of its own for anywidget: tfkit_lab/static/<name>.js. */
import { build } from 'esbuild';
import { kinds } from './schemas.mjs';

await build({
  entryPoints: Object.fromEntries(['model', 'prediction', ...kinds].map(name => [name, `src/widgets/${name}.ts`])),
  bundle: true,
  minify: true,
  legalComments: 'none',
  format: 'esm',
  target: 'es2020',
  outdir: 'tfkit_lab/static'
});
