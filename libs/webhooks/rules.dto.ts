import { Transform } from 'class-transformer';
import { IsBoolean, IsInt, IsOptional, Max, Min } from 'class-validator';
import { flagFromText, integerFromText } from '#libs/http/from-text.js';
import { type WebhookRules } from './published.js';
import { Meaning } from '#libs/http/meaning.js';

/** Rules of one webhook (docs/reference/rest-api.md#webhook-rules). */
export class RulesDto {
  @Meaning('Seconds in which the endpoint must answer; null for the setting of the server')
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  @Min(1)
  @Max(30)
  timeout_s?: number | null;
  @Meaning('Attempts at one delivery; null for 10')
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  @Min(1)
  @Max(10)
  max_attempts?: number | null;
  @Meaning('Whether an event waits until those before it have ended; false by default')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  ordered?: boolean | null;
}

/** The given rules. Null returns to the server's setting. */
export const givenRules = ({ timeout_s, max_attempts, ordered }: RulesDto): Partial<WebhookRules> => ({
  ...(timeout_s === undefined ? {} : { timeoutS: timeout_s }),
  ...(max_attempts === undefined ? {} : { maxAttempts: max_attempts }),
  ...(ordered === undefined ? {} : { ordered: ordered ?? false }),
});
