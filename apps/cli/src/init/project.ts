import { type NewFiles } from './templates.js';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Files around the components of a project. */
export const projectFiles = (name: string): NewFiles => ({
  'package.json': json({
    name: name.toLowerCase().replace(/[^a-z0-9._-]/g, '-'),
    private: true,
    type: 'module',
    scripts: { test: 'sluice test' },
  }),
  'tsconfig.json': json({
    compilerOptions: {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
    exclude: ['node_modules', '.sluice'],
  }),
  '.gitignore': 'node_modules/\n.sluice/\n.env\n',
});
