/** What `jlpm eslint` asks for: the recommended rules with types, and JupyterLab's own habits of naming and writing. */
import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import globals from 'globals';
import tseslint from 'typescript-eslint';

const BUILT = [
  'lib/',
  'src/generated/',
  'tfkit_lab/labextension/',
  'tfkit_lab/static/',
  'ui-tests/{test-results,playwright-report,.tmp}/'
];

// as in JupyterLab: interfaces begin with an I, and so do the tokens of services, which share their name
const NAMES = [
  { selector: 'interface', format: ['PascalCase'], custom: { regex: '^I[A-Z]', match: true } },
  { selector: ['class', 'typeAlias', 'enum', 'typeParameter'], format: ['PascalCase'] },
  { selector: 'variable', format: ['camelCase', 'UPPER_CASE', 'PascalCase'], leadingUnderscore: 'allow' },
  { selector: ['function', 'classMethod', 'parameter'], format: ['camelCase'], leadingUnderscore: 'allow' },
  { selector: 'parameter', modifiers: ['destructured'], format: null }, // the names of what the server sends
  { selector: 'classMethod', filter: '^save_changes$', format: null } // ipywidgets' name
];

const HABITS = {
  curly: ['error', 'all'],
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'prefer-arrow-callback': 'error'
};

export default tseslint.config(
  { ignores: BUILT },
  js.configs.recommended,
  {
    rules: { ...HABITS, 'no-unused-vars': ['error', { varsIgnorePattern: '^_$' }] },
    languageOptions: { globals: { ...globals.browser, ...globals.node } }
  },
  { files: ['ui-tests/**/*.js'], languageOptions: { sourceType: 'commonjs' } },
  {
    files: ['src/**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: 'tsconfig.test.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/naming-convention': ['error', ...NAMES],
      '@typescript-eslint/no-unused-vars': ['error', { args: 'none' }],
      '@typescript-eslint/prefer-readonly': 'error',
      '@typescript-eslint/unbound-method': 'off' // a signal of Lumino's takes a method and its object apart
    }
  },
  {
    files: ['src/**/*.spec.ts'], // they read traces, which are JSON, and take them apart
    rules: Object.fromEntries(
      ['argument', 'assignment', 'call', 'member-access', 'return'].map(what => [
        `@typescript-eslint/no-unsafe-${what}`,
        'off'
      ])
    )
  },
  prettier
);
