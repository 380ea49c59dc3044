import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, IsString, MaxLength } from 'class-validator';
import { DomainError } from '#libs/kernel/domain-error.js';
import { Meaning } from '#libs/http/meaning.js';

const fromText = ({ value }: { value: unknown }): unknown =>
  value === 'true' ? true : value === 'false' ? false : value;

export class ComponentCodeDto {
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
  @Meaning('Whether npm packages are resolved anew; false by default')
  @IsOptional()
  @Transform(fromText)
  @IsBoolean()
  refresh_packages?: boolean;
}

/**
 * Reads `files` beside `component_code`: an object of path to text. See docs/reference/rest-api.md#component-files. The
 * paths and their number are checked later. Throws request.invalid_parameter.
 */
export const filesOf = (given: unknown): Readonly<Record<string, string>> | undefined => {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'object' || Array.isArray(given)) throw invalidFiles('files', given);
  for (const [path, text] of Object.entries(given)) {
    if (typeof text !== 'string') throw invalidFiles(`files[${JSON.stringify(path)}]`, text);
  }
  return given as Record<string, string>;
};

const invalidFiles = (field: string, actual: unknown): DomainError => {
  const kind = actual === null ? 'null' : Array.isArray(actual) ? 'an array' : typeof actual;
  return new DomainError('request.invalid_parameter', `parameter ${field} must be text by path, got ${kind}`, {
    field,
    actual: kind,
  });
};
