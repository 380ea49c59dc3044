import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { type Warning } from '#libs/kernel/warning.js';
import { DefinitionChecks, type GivenDefinition } from '../definition-checks.js';

export class ValidateWorkflow extends Command<readonly Warning[]> {
  constructor(
    readonly given: GivenDefinition,
    /** Makes warnings errors, also unless the definition says so itself. */
    readonly strict: boolean,
    readonly context: CommandContext,
  ) {
    super();
  }
}

/** Checks a definition and changes nothing. Resolves with the warnings. Throws as DefinitionChecks does. */
@CommandHandler(ValidateWorkflow)
export class ValidateWorkflowHandler implements ICommandHandler<ValidateWorkflow> {
  constructor(private readonly checks: DefinitionChecks) {}

  async execute({ given, strict, context }: ValidateWorkflow): Promise<readonly Warning[]> {
    const definition = await this.checks.read(given, context.workspaceId);
    return (await this.checks.check(given, definition, { strict, context })).warnings;
  }
}
