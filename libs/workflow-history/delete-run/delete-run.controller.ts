import { Controller, Delete, HttpCode, Inject, Param } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { hasEnded } from '#libs/workflow-runs/run-state.js';
import { RUN_HISTORY } from '../ports.js';
import { type RunHistory } from '../run-history.js';
import { ShownRuns } from '../shown-runs.js';

/** docs/reference/workflows.md#run-delete */
@Controller('v1/runs')
export class DeleteRunController {
  constructor(
    private readonly runs: ShownRuns,
    @Inject(RUN_HISTORY) private readonly history: RunHistory,
  ) {}

  @Delete(':id')
  @Operation({ summary: 'Remove an ended run from the history', refusals: [409] })
  @HttpCode(204)
  async remove(@Param('id') id: string, @CurrentCaller() caller: Caller): Promise<void> {
    const { state } = await this.runs.find(id, caller, 'find');
    if (!hasEnded(state)) {
      const message = `run ${id} is ${state.head.status}: only a run that has ended can be removed`;
      throw new DomainError('run.not_finished', message, { id, state: state.head.status });
    }
    await this.history.remove([id]);
  }
}
