import path from 'node:path';
import tseslint from 'typescript-eslint';

const noEmptyCatch = { 'no-empty': ['error', { allowEmptyCatch: false }] };

/** Imports within a room are relative, and those of another room begin with #libs/, so that each shows which it is. */
const roomImports = {
  create(context) {
    const file = path.relative(import.meta.dirname, context.filename).split(path.sep);
    if (file[0] !== 'libs') return {};
    const check = (node) => {
      const from = node.source?.value;
      if (typeof from !== 'string' || !/^(\.|#libs\/)/.test(from)) return;
      const isRelative = from.startsWith('.');
      const target = isRelative ? path.posix.join(...file.slice(0, -1), from) : from.slice(1);
      if ((target.split('/')[1] === file[1]) === isRelative) return;
      const message = isRelative ? 'Import another room by #libs/.' : 'Import the own room by a relative path.';
      context.report({ node: node.source, message });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'node_modules/**',
      'examples/**',
      'test/fixtures/**',
      'test/components/*/**',
      'coverage/**',
      'test/harness/openapi-types.ts',
    ],
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    plugins: { rooms: { rules: { imports: roomImports } } },
    rules: {
      ...noEmptyCatch,
      'rooms/imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false, attributes: false } },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      eqeqeq: ['error', 'always'],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ObjectExpression > SpreadElement > ObjectExpression',
          message: 'Write the properties out instead of spreading a literal.',
        },
      ],
    },
  },
  {
    files: ['apps/**/*.ts', 'libs/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/*.int-spec.ts', '**/*.suite.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'error' },
  },
  {
    // A describe block is a table of cases, not a function that does too much.
    files: ['**/*.spec.ts', '**/*.int-spec.ts', '**/*.e2e-spec.ts', '**/*.suite.ts'],
    rules: { 'max-lines-per-function': 'off', '@typescript-eslint/unbound-method': 'off' },
  },
  {
    // Nest reads constructor parameter types at run time: an inline type import would erase them.
    files: ['**/*.controller.ts', '**/*.module.ts', '**/*.handler.ts', '**/*.dto.ts'],
    rules: { '@typescript-eslint/consistent-type-imports': 'off' },
  },
);
