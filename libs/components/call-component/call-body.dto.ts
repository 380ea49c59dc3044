import { IsInt, IsOptional, IsString, Max, MaxLength, Min, MinLength } from 'class-validator';
import { Transform } from 'class-transformer';
import { describe, type Parameters } from '#libs/http/parameters.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { Meaning } from '#libs/http/meaning.js';

const fromText = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;

export class PropsBodyDto {
  @Meaning('Component id (`sc_…`) or key')
  @IsString()
  @MinLength(1)
  @MaxLength(8_192)
  id!: string;
  @Meaning('`dyp_…`, from `POST /v1/components/props`')
  @IsOptional()
  @IsString()
  @MaxLength(200)
  dynamic_props_id?: string;
}

export class ConfigureBodyDto extends PropsBodyDto {
  @Meaning('Prop whose options are asked for')
  @IsString()
  @MinLength(1)
  @MaxLength(1_024)
  prop_name!: string;
  @Meaning('Page of options, from 0')
  @IsOptional()
  @Transform(fromText)
  @IsInt()
  @Min(0)
  @Max(1_000_000_000)
  page?: number;
  @Meaning('Text that the user typed')
  @IsOptional()
  @IsString()
  @MaxLength(8_192)
  query?: string;
}

/** An object of the body. In a form it is JSON text. Empty when it is absent. Throws request.invalid_parameter. */
export const objectIn = (params: Parameters, field: string): Readonly<Record<string, unknown>> => {
  const raw = params[field] ?? {};
  const value = typeof raw === 'string' ? parsed(raw) : raw;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  // A text is not repeated, because it may hold a secret.
  const actual = typeof raw === 'string' ? `a text of ${raw.length} characters that is no JSON object` : describe(raw);
  throw new DomainError('request.invalid_parameter', `parameter ${field} must be an object; got ${actual}`, {
    field,
    actual,
  });
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
