const base = {
  propDefinitions: {
    repository: { type: 'string', label: 'Repository', description: 'Of the base', default: 'main' },
  },
};
const app = {
  type: 'app',
  app: 'ledger',
  propDefinitions: {
    folder: { type: 'string', label: 'Folder', description: 'Where to look', optional: true },
    repository: { propDefinition: [base, 'repository'], label: 'Repository of the app' },
  },
};

export default {
  name: 'Props of an app',
  version: '0.0.1',
  props: {
    app,
    http: '$.interface.http',
    folder: { propDefinition: [app, 'folder'], label: 'Start folder', default: '/inbox' },
    repository: { propDefinition: [app, 'repository'] },
  },
  run() {
    this.$emit([this.folder, this.repository]);
  },
};
