import { Controller, Get, Param } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { describe, type Parameters, Params } from '#libs/http/parameters.js';
import { one } from '#libs/http/replies.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { shownId } from '#libs/kernel/ids.js';
import { stepRecords } from '#libs/workflow-runs/run-record.js';
import {
  stepRecord,
  RunStepReply,
  type RunStepRecord,
  WholeRunReply,
  wholeRunRecord,
  type WholeRunRecord,
} from '../run-reply.js';
import { ShownRuns } from '../shown-runs.js';

/** docs/reference/workflows.md#run-record */
@Controller('v1/runs/:id')
export class GetRunController {
  constructor(private readonly runs: ShownRuns) {}

  @Get()
  @Operation({
    summary: 'A run with its event and steps',
    reply: one(WholeRunReply),
    also: { expand: 'data: values are whole' },
  })
  async get(
    @Param('id') id: string,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: WholeRunRecord }> {
    const expand = expandsData(params);
    const run = await this.runs.find(id, caller, 'whole');
    return { data: wholeRunRecord(run, await this.runs.shown(run), expand) };
  }

  @Get('steps/:namespace')
  @Operation({ summary: 'A step of a run, with whole values', reply: one(RunStepReply) })
  async step(
    @Param('id') id: string,
    @Param('namespace') namespace: string,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: RunStepRecord }> {
    const run = await this.runs.find(id, caller, 'whole');
    const { steps } = await this.runs.shown(run);
    const found = stepRecords(steps, run.state).find((step) => step.namespace === namespace);
    if (found) return { data: stepRecord(found, true) };
    throw new DomainError('run.step_not_found', `run ${run.id} has no step ${shownId(namespace)}`, {
      id: run.id,
      namespace: shownId(namespace),
      allowed: steps.steps.map((step) => step.namespace),
    });
  }
}

const expandsData = (params: Parameters): boolean => {
  const given = params['expand'];
  if (given === undefined || given === null || given === '') return false;
  if (given === 'data') return true;
  const actual = describe(given);
  throw new DomainError('request.invalid_parameter', `parameter expand must be data; got ${String(actual)}`, {
    field: 'expand',
    actual,
    allowed: ['data'],
  });
};
