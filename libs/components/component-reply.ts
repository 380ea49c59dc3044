import {
  anyJson,
  anyOf,
  boolean,
  listOf,
  named,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  revisionField,
  seconds,
  text,
  type FieldsOf,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { epochSeconds } from '#libs/kernel/clock.js';
import { type ConfigurableProp, type OptionWithLabel } from '#libs/component-model/component-metadata.js';
import { NO_LICENCE } from '#libs/component-model/licences.js';
import { type LockedPackage, type PackageChanges } from '#libs/component-model/package-lock.js';
import { type SavedComponent } from './domain/component.js';
import { type SavedPackages } from './published.js';

export const Option = object({
  label: text('What people see'),
  value: anyJson('What the component gets'),
} satisfies FieldsOf<OptionWithLabel>);

/** See docs/reference/rest-api.md#component-configurable-props. */
export const ConfigurablePropReply = named('ConfigurableProp', {
  name: text('Name of the prop'),
  type: text('`string`, `string[]`, `app`, `$.interface.http`, …'),
  label: optional(text('Name for people')),
  description: optional(text('Text for people')),
  optional: optional(boolean('Whether it may be left out; false when absent')),
  default: optional(anyJson('Any JSON')),
  options: optional(listOf(anyOf(text(), number(), boolean(), Option), 'Values to choose from')),
  min: optional(number('Least value')),
  max: optional(number('Greatest value')),
  secret: optional(boolean('Whether the value is encrypted and never shown')),
  disabled: optional(boolean('Whether forms show it without letting it be changed')),
  hidden: optional(boolean('Whether forms leave it out')),
  readOnly: optional(boolean('Whether its value cannot be set')),
  remoteOptions: optional(boolean('True when `options` is a function')),
  useQuery: optional(boolean('Whether its options depend on a text that the user types')),
  reloadProps: optional(boolean('Whether a change of its value may change the other props')),
  withLabel: optional(boolean('Whether the component gets the label with the value')),
  static: optional(anyJson('Fixed value of a timer')),
  customResponse: optional(boolean('Whether the component answers requests to its endpoint')),
  app: optional(text('Name slug of the app of an account')),
  appProp: optional(text('Prop with the account whose events it takes')),
  eventNames: optional(listOf(text(), 'Events of the app that it takes')),
  remote: optional(boolean('As the component declares it for an apphook')),
  alertType: optional(text('Kind of an alert: `info`, `warning`, …')),
  content: optional(text('Text of an alert')),
  accessMode: optional(text('How a folder is used')),
  sync: optional(boolean('As the component declares it for a folder')),
} satisfies FieldsOf<ConfigurableProp>);

const Versioned = object({ name: text('Name of the npm package'), version: text('Exact version') });

const licence = () => text(`Licence that its package.json states, or \`${NO_LICENCE}\``);

const PackagesReply = named('ComponentPackages', {
  count: number('Number of packages'),
  bytes: number('Unpacked size'),
  install_ms: number('Time that the installation took when the code was built'),
  cached: boolean('True when no registry was asked for files'),
  imported: listOf(
    object({ name: text('Name of the npm package'), version: text('Exact version'), license: licence() }),
    'Those that the code imports, and what a package imports without declaring it; 100 at most',
  ),
  added: optional(listOf(Versioned, 'Only after `refresh_packages`')),
  removed: optional(listOf(Versioned, 'Only after `refresh_packages`')),
  changed: optional(
    listOf(
      object({ name: text('Name of the npm package'), from: text('Version before'), to: text('Version now') }),
      'Only after `refresh_packages`',
    ),
  ),
});

const ID = { id: text('`sc_…`') };

const FACTS = {
  code_hash: text('SHA-256 of the code, in hexadecimal'),
  name: text('Name that the component declares'),
  version: text('Empty when the code has none'),
  key: nullable(text('Key that the component declares')),
  type: oneOf(['source', 'action'], 'Kind of component'),
  description: nullable(text('Text for people that the component declares')),
  annotations: nullable(record('As declared')),
  url: nullable(text('`component_url` as it was given last')),
  configurable_props: listOf(ConfigurablePropReply, 'In the order of declaration'),
  packages: optional(PackagesReply),
  revision: revisionField(),
  created_at: seconds(),
  updated_at: seconds(),
};

/** Component as in docs/reference/rest-api.md#component-fields. Absent values are null. */
export const Component = named('Component', { ...ID, code: text('The exact code'), ...FACTS });
export type ComponentReply = TypeOf<typeof Component>;

/** As in docs/reference/rest-api.md#components-list. */
export const ListedComponent = named('ListedComponent', { ...ID, ...FACTS });
export type ListedComponentReply = TypeOf<typeof ListedComponent>;

export interface ShownComponent {
  readonly component: SavedComponent;
  readonly revision: number;
  readonly changes?: PackageChanges;
}

export const componentReply = (shown: ShownComponent, code: string): ComponentReply => {
  const { id, ...facts } = listedComponentReply(shown);
  return { id, code, ...facts };
};

export const listedComponentReply = ({ component, revision, changes }: ShownComponent): ListedComponentReply => ({
  id: component.componentId,
  code_hash: component.codeHash,
  name: component.name,
  version: component.version,
  key: component.key,
  type: component.kind,
  description: component.description,
  annotations: component.annotations,
  url: component.url,
  configurable_props: component.configurableProps,
  ...(component.packages ? { packages: packagesReply(component.packages, changes) } : {}),
  revision,
  created_at: epochSeconds(component.createdAt),
  updated_at: epochSeconds(component.updatedAt),
});

const packagesReply = (
  { count, bytes, ms, cached, imported }: SavedPackages,
  changes: PackageChanges | undefined,
): TypeOf<typeof PackagesReply> => ({
  count,
  bytes,
  install_ms: ms,
  cached,
  imported: imported.map(({ name, version, licence = NO_LICENCE }) => ({ name, version, license: licence })),
  ...changes,
});

/** Package of a component as in docs/reference/rest-api.md#component-packages. */
export const ComponentPackage = named('ComponentPackage', {
  name: text('Name of the npm package'),
  version: text('Exact version'),
  integrity: text('Subresource integrity of its tarball'),
  published_at: nullable(seconds('Epoch seconds; null when the registry does not tell')),
  license: licence(),
  place: text('Folder below the root of the packages'),
});

export type ComponentPackageReply = TypeOf<typeof ComponentPackage>;

export const componentPackageReply = (locked: LockedPackage): ComponentPackageReply => ({
  name: locked.name,
  version: locked.version,
  integrity: locked.integrity,
  published_at: locked.publishedAt === null ? null : epochSeconds(locked.publishedAt),
  license: locked.licence ?? NO_LICENCE,
  place: locked.place,
});
