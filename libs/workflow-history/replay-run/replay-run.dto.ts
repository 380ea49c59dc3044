import { IsIn, IsOptional, IsString, Length } from 'class-validator';
import { Meaning } from '#libs/http/meaning.js';
import { REPLAY_VERSIONS, type ReplayVersion } from './begin-replay.js';

export class ReplayRunDto {
  @Meaning('Where the replay begins: `start` (the default), `failed`, or the namespace of a step')
  @IsOptional()
  @IsString()
  @Length(1, 64)
  from?: string;
  @Meaning(
    'Version that it runs: `current` (the default) is the deployed one, `same` that of the run, `draft` the draft, as a test',
  )
  @IsOptional()
  @IsIn(REPLAY_VERSIONS)
  version?: ReplayVersion;
}
