import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { ROOT } from '#test/harness/paths.js';

const FIXTURES = join(ROOT, 'test/fixtures/events');
const libs = readdirSync(join(ROOT, 'libs'), { recursive: true, encoding: 'utf8' }).map((file) =>
  join(ROOT, 'libs', file),
);
/** Files that declare events: types with a name and data. */
const published = libs.filter((file) => /libs\/\w[\w-]*\/(published|registry\/registry-entry)\.ts$/.test(file));
/** A refresh writes an event only for other packages, so there is none without packages. */
const NEVER = ['ComponentPackagesRefreshed without packages'];

interface Fixture {
  readonly file: string;
  readonly type: string;
  readonly data: unknown;
}
const fixtures: readonly Fixture[] = readdirSync(FIXTURES).map((file) => ({
  file,
  ...(JSON.parse(readFileSync(join(FIXTURES, file), 'utf8')) as Pick<Fixture, 'type' | 'data'>),
}));

/** An event type, and the paths of the optional fields in its data. A list's elements have the path of the list. */
interface EventType {
  readonly type: string;
  readonly optional: readonly (readonly string[])[];
}

const eventTypes = (): readonly EventType[] => {
  const program = ts.createProgram(published, { strict: true, skipLibCheck: true, module: ts.ModuleKind.NodeNext });
  const checker = program.getTypeChecker();
  const found: EventType[] = [];
  for (const file of published) {
    const source = program.getSourceFile(file);
    if (!source) throw new Error(`${file} was not read`);
    for (const statement of source.statements) {
      if (!ts.isInterfaceDeclaration(statement)) continue;
      const members = checker.getTypeAtLocation(statement);
      const [type, data] = ['type', 'data'].map((name) => members.getProperty(name));
      const name = type && checker.getTypeOfSymbol(type);
      if (!name?.isStringLiteral() || !data) continue;
      found.push({ type: name.value, optional: optionalIn(checker, checker.getTypeOfSymbol(data), []) });
    }
  }
  return found;
};

/** Looks into the types that these files declare, and into lists and unions of them. */
const optionalIn = (
  checker: ts.TypeChecker,
  type: ts.Type,
  path: readonly string[],
): readonly (readonly string[])[] => {
  if (type.isUnion()) return unique(type.types.flatMap((each) => optionalIn(checker, each, path)));
  if (checker.isArrayType(type))
    return checker.getTypeArguments(type as ts.TypeReference).flatMap((each) => optionalIn(checker, each, path));
  if (path.length > 3 || !isOurs(type)) return [];
  return unique(
    type.getProperties().flatMap((property) => {
      const own = [...path, property.name];
      const inside = optionalIn(checker, checker.getTypeOfSymbol(property), own);
      return (property.flags & ts.SymbolFlags.Optional) === 0 ? inside : [own, ...inside];
    }),
  );
};
const isOurs = (type: ts.Type): boolean =>
  type.getProperties().length > 0 &&
  type
    .getProperties()
    .every(({ declarations = [] }) => declarations.every((each) => published.includes(each.getSourceFile().fileName)));
const unique = (paths: readonly (readonly string[])[]): readonly (readonly string[])[] => [
  ...new Map(paths.map((path) => [path.join('.'), path])).values(),
];

/** Objects at a path in a fixture. */
const at = (value: unknown, [name, ...rest]: readonly string[]): readonly unknown[] => {
  if (Array.isArray(value)) return value.flatMap((each) => at(each, name === undefined ? [] : [name, ...rest]));
  if (typeof value !== 'object' || value === null) return [];
  return name === undefined ? [value] : at(Reflect.get(value, name), rest);
};
const has = (name: string) => (value: unknown) => Object.hasOwn(value as object, name);

describe('the golden events', () => {
  const types = eventTypes();

  it('have each type of event in the log', () => {
    expect(types.length).toBeGreaterThan(40);
    const names = new Set(fixtures.map(({ file }) => file));
    expect(types.filter(({ type }) => !names.has(`${type}.v1.json`))).toEqual([]);
    const known = new Set(types.map(({ type }) => type));
    expect(fixtures.filter(({ type }) => !known.has(type)).map(({ file }) => file)).toEqual([]);
  });

  it('have each optional field of an event with it and without it', () => {
    const missing = types.flatMap(({ type, optional }) =>
      optional.flatMap((path) => {
        const [name = '', parent] = [path.at(-1), path.slice(0, -1)];
        const holders = fixtures.filter((each) => each.type === type).flatMap(({ data }) => at(data, parent));
        return [
          ...(holders.some(has(name)) ? [] : [`${type} with ${path.join('.')}`]),
          ...(holders.every(has(name)) ? [`${type} without ${path.join('.')}`] : []),
        ];
      }),
    );
    expect(missing.filter((each) => !NEVER.includes(each))).toEqual([]);
  });

  it('are read by a spec of their context, each of them', () => {
    const specs = libs.filter((file) => file.endsWith('.spec.ts')).map((file) => readFileSync(file, 'utf8'));
    const unread = fixtures.filter(({ file, type }) => {
      const variant = /\.v\d+\.(\w+)\.json$/.exec(file)?.[1];
      const naming = specs.filter(
        (spec) => /fixtures\/events|testing\/golden-events/.test(spec) && spec.includes(type),
      );
      return !naming.some((spec) => variant === undefined || spec.includes(`.${variant}`));
    });
    expect(unread.map(({ file }) => file)).toEqual([]);
  });
});
