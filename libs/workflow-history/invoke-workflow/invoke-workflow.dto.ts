import { Transform } from 'class-transformer';
import { IsBoolean, IsInt, IsOptional, Max, Min } from 'class-validator';
import { flagFromText, integerFromText } from '#libs/http/from-text.js';
import { Meaning } from '#libs/http/meaning.js';

export class InvokeWorkflowDto {
  @Meaning('Whether the answer waits for the run to end or to wait; false by default')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  wait?: boolean;
  @Meaning("Longest wait for the answer in seconds; the workflow's `timeout_seconds` and one more by default")
  @IsOptional()
  @Transform(integerFromText)
  @IsInt()
  @Min(1)
  @Max(300)
  wait_seconds?: number;
  @Meaning('Whether the run is a test; false by default')
  @IsOptional()
  @Transform(flagFromText)
  @IsBoolean()
  test?: boolean;
}
