import { type ApiDocument } from './api-contract.js';

interface Described {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
  readonly additionalProperties?: boolean | Described;
}

/** Places in the document that have a parameter or a field without a description. */
export const withoutMeaning = ({ paths, components }: ApiDocument): readonly string[] => [
  ...Object.entries(components.schemas).flatMap(([name, schema]) => fieldsOf(schema as Described, name)),
  ...Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => inOperation(operation as Operation, `${method} ${path}`)),
  ),
];

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Described }>>;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

const inOperation = ({ parameters = [], requestBody, responses }: Operation, place: string): readonly string[] => [
  ...parameters.filter(({ description }) => !description).map(({ name }) => `${place} parameter ${name}`),
  ...[requestBody, ...Object.values(responses)].flatMap((each) =>
    Object.values(each?.content ?? {}).flatMap(({ schema }) => fieldsOf(schema, place)),
  ),
];

const fieldsOf = (schema: Described, place: string): readonly string[] => {
  const { properties = {}, items, anyOf = [], additionalProperties: more } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...(isDescribed(field) ? [] : [`${place}.${name}`]),
      ...fieldsOf(field, `${place}.${name}`),
    ]),
    ...(items ? fieldsOf(items, `${place}[]`) : []),
    ...anyOf.flatMap((each) => fieldsOf(each, place)),
    ...(typeof more === 'object' ? fieldsOf(more, `${place}.*`) : []),
  ];
};

/** A named schema says what it is where it is named. */
const isDescribed = ({ description, $ref, anyOf = [] }: Described): boolean =>
  Boolean(description) || $ref !== undefined || anyOf.some((each) => each.$ref !== undefined);
