import { Transform } from 'class-transformer';
import { IsBoolean, IsInt, IsOptional, IsString, Length, MaxLength } from 'class-validator';
import { type ComponentReference } from '#libs/components/published.js';
import { describe, type Parameters } from '#libs/http/parameters.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { Meaning } from '#libs/http/meaning.js';

const fromText = ({ value }: { value: unknown }): unknown =>
  value === 'true' ? true : value === 'false' ? false : value;

/** Texts and flags in the bodies of create, update and delete. The functions below read the objects in them. */
export class SourceBodyDto {
  @Meaning('`sc_…`, a saved component')
  @IsOptional()
  @IsString()
  @MaxLength(200)
  component_id?: string;
  @Meaning('Code of the component')
  @IsOptional()
  @IsString()
  component_code?: string;
  @Meaning('Address from which the code is fetched')
  @IsOptional()
  @IsString()
  @MaxLength(2_048)
  component_url?: string;
  @Meaning('Path of `component_code` among `files`')
  @IsOptional()
  @IsString()
  @MaxLength(512)
  file_name?: string;
  @Meaning('Key of a saved component or of one in the registry')
  @IsOptional()
  @IsString()
  @MaxLength(8_192)
  key?: string;
  @Meaning('Another name of `key`')
  @IsOptional()
  @IsString()
  @MaxLength(8_192)
  component_key?: string;
  @Meaning('`dyp_…`, from `POST /v1/components/props`')
  @IsOptional()
  @IsString()
  @MaxLength(200)
  dynamic_props_id?: string;
  @Meaning('Name for people')
  @IsOptional()
  @IsString()
  @Length(1, 255)
  name?: string;
  @Meaning('Whether the source runs; true for a new one unless given')
  @IsOptional()
  @Transform(fromText)
  @IsBoolean()
  active?: boolean;
  @Meaning('Whether events of the deploy hook count; true for a new source unless given')
  @IsOptional()
  @Transform(fromText)
  @IsBoolean()
  emit_on_deploy?: boolean;
  @Meaning('Whether npm packages are resolved anew; false by default')
  @IsOptional()
  @Transform(fromText)
  @IsBoolean()
  refresh_packages?: boolean;
  @Meaning('Whether a failing hook does not keep the change; false by default')
  @IsOptional()
  @Transform(fromText)
  @IsBoolean()
  ignore_hook_errors?: boolean;
  @Meaning('Epoch seconds of `updated_at` as read; another value is 409')
  @IsOptional()
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
  )
  @IsInt()
  if_updated_at?: number;
}

/** Undefined when no reference is given. An empty id, code, URL or key counts as absent. */
export const referenceOf = (body: SourceBodyDto, params: Parameters): ComponentReference | undefined => {
  const key = given(body.key) ?? given(body.component_key);
  const files = filesOf(params['files']);
  const { component_id: id, component_code: code, component_url: url } = body;
  const reference: ComponentReference = {
    ...(given(id) === undefined ? {} : { componentId: given(id) ?? '' }),
    ...(given(code) === undefined ? {} : { componentCode: given(code) ?? '' }),
    ...(given(url) === undefined ? {} : { componentUrl: given(url) ?? '' }),
    ...(key === undefined ? {} : { key }),
  };
  if (Object.keys(reference).length === 0) return undefined;
  return {
    ...reference,
    ...(files === undefined ? {} : { files }),
    ...(typeof body.file_name === 'string' ? { fileName: body.file_name } : {}),
  };
};

/** The id of a reply of POST /v1/components/props. An empty one counts as absent. */
export const dynamicPropsIdOf = (body: SourceBodyDto): { dynamicPropsId?: string } => {
  const id = given(body.dynamic_props_id);
  return id === undefined ? {} : { dynamicPropsId: id };
};

const given = (text: string | null | undefined): string | undefined =>
  typeof text === 'string' && text !== '' ? text : undefined;

/** `configured_props` as sent: an object, or its JSON text in a form body. Throws request.invalid_parameter. */
export const configuredPropsOf = (params: Parameters): Readonly<Record<string, unknown>> | undefined => {
  const raw = params['configured_props'];
  if (raw === undefined || raw === null) return undefined;
  const value = typeof raw === 'string' ? jsonOf(raw) : raw;
  if (isObject(value)) return fewKeys(value);
  // The text is not repeated, because it may hold a secret.
  const actual = typeof raw === 'string' ? `a text of ${raw.length} characters that is no JSON object` : raw;
  throw notAnObject('configured_props', 'an object of values by prop', actual);
};

const MAX_KEYS = 1_000;

const fewKeys = (given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const actual = Object.keys(given).length;
  if (actual <= MAX_KEYS) return given;
  throw new DomainError(
    'request.invalid_parameter',
    `parameter configured_props has ${actual} keys, the limit is ${MAX_KEYS}: give only values for props of the component`,
    { field: 'configured_props', limit: MAX_KEYS, actual },
  );
};

const filesOf = (raw: unknown): Readonly<Record<string, string>> | undefined => {
  if (raw === undefined || raw === null) return undefined;
  if (isObject(raw) && Object.values(raw).every((text) => typeof text === 'string')) {
    return raw as Record<string, string>;
  }
  throw notAnObject('files', 'an object of text by path', raw);
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

const notAnObject = (field: string, expected: string, raw: unknown): DomainError =>
  new DomainError('request.invalid_parameter', `parameter ${field} must be ${expected}; got ${describe(raw)}`, {
    field,
    actual: describe(raw),
  });
