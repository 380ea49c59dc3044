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
  seconds,
  text,
  type FieldsOf,
  type TypeOf,
} from '#libs/http/reply-schema.js';
import { epochSeconds } from '#libs/kernel/clock.js';
import { type ConfigurableProp, type OptionWithLabel } from '#libs/component-model/component-metadata.js';
import { type LockedPackage, type PackageChanges } from '#libs/component-model/package-lock.js';
import { type SavedComponent } from './domain/component.js';
import { type SavedPackages } from './published.js';

export const Option = object({ label: text(), value: anyJson() } satisfies FieldsOf<OptionWithLabel>);

/** See docs/reference/rest-api.md#component-configurable-props. */
export const ConfigurablePropReply = named('ConfigurableProp', {
  name: text(),
  type: text('`string`, `string[]`, `app`, `$.interface.http`, …'),
  label: optional(text()),
  description: optional(text()),
  optional: optional(boolean()),
  default: optional(anyJson('Any JSON')),
  options: optional(listOf(anyOf(text(), number(), boolean(), Option))),
  min: optional(number()),
  max: optional(number()),
  secret: optional(boolean()),
  disabled: optional(boolean()),
  hidden: optional(boolean()),
  readOnly: optional(boolean()),
  remoteOptions: optional(boolean('True when `options` is a function')),
  useQuery: optional(boolean()),
  reloadProps: optional(boolean()),
  withLabel: optional(boolean()),
  static: optional(anyJson('Fixed value of a timer')),
  customResponse: optional(boolean()),
  app: optional(text()),
  appProp: optional(text()),
  eventNames: optional(listOf(text())),
  remote: optional(boolean()),
  alertType: optional(text()),
  content: optional(text()),
  accessMode: optional(text()),
  sync: optional(boolean()),
} satisfies FieldsOf<ConfigurableProp>);

const Versioned = object({ name: text(), version: text() });

const PackagesReply = named('ComponentPackages', {
  count: number(),
  bytes: number('Unpacked size'),
  install_ms: number('Time that the installation took when the code was built'),
  cached: boolean('True when no registry was asked for files'),
  added: optional(listOf(Versioned, 'Only after `refresh_packages`')),
  removed: optional(listOf(Versioned, 'Only after `refresh_packages`')),
  changed: optional(listOf(object({ name: text(), from: text(), to: text() }), 'Only after `refresh_packages`')),
});

/** Component as in docs/reference/rest-api.md#component-fields. Absent values are null. */
export const Component = named('Component', {
  id: text('`sc_…`'),
  code: text('The exact code'),
  code_hash: text('SHA-256 of the code, in hexadecimal'),
  name: text(),
  version: text('Empty when the code has none'),
  key: nullable(text()),
  type: oneOf(['source', 'action']),
  description: nullable(text()),
  annotations: nullable(record('As declared')),
  url: nullable(text('`component_url` as it was given last')),
  configurable_props: listOf(ConfigurablePropReply, 'In the order of declaration'),
  packages: optional(PackagesReply),
  created_at: seconds(),
  updated_at: seconds(),
});

export type ComponentReply = TypeOf<typeof Component>;

export const componentReply = (component: SavedComponent, code: string, changes?: PackageChanges): ComponentReply => ({
  id: component.componentId,
  code,
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
  created_at: epochSeconds(component.createdAt),
  updated_at: epochSeconds(component.updatedAt),
});

const packagesReply = (
  { count, bytes, ms, cached }: SavedPackages,
  changes: PackageChanges | undefined,
): TypeOf<typeof PackagesReply> => ({ count, bytes, install_ms: ms, cached, ...changes });

/** Package of a component as in docs/reference/rest-api.md#component-packages. */
export const ComponentPackage = named('ComponentPackage', {
  name: text(),
  version: text(),
  integrity: text('Subresource integrity of its tarball'),
  published_at: nullable(seconds('Epoch seconds; null when the registry does not tell')),
  place: text('Folder below the root of the packages'),
});

export type ComponentPackageReply = TypeOf<typeof ComponentPackage>;

export const componentPackageReply = (locked: LockedPackage): ComponentPackageReply => ({
  name: locked.name,
  version: locked.version,
  integrity: locked.integrity,
  published_at: locked.publishedAt === null ? null : epochSeconds(locked.publishedAt),
  place: locked.place,
});
