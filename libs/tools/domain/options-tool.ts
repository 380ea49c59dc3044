import { OPTIONS_TOOL } from './tool-names.js';

/** Answers with values for a prop of another tool. The protocol completes prompts and resources only. */
export const OPTIONS_TOOL_LISTED = {
  name: OPTIONS_TOOL,
  title: 'Values of an argument',
  description:
    'Lists values for one argument of another tool, for arguments whose description names this tool. ' +
    'The answer has `string_options` or `options`; for more, give its `context` back as `prev_context`, with the next `page`.',
  inputSchema: {
    type: 'object',
    properties: {
      tool: { type: 'string', description: 'Name of the other tool' },
      prop: { type: 'string', description: 'Name of its argument' },
      query: { type: 'string', maxLength: 8_192, description: 'Words to search for' },
      page: {
        type: 'integer',
        minimum: 0,
        maximum: 1_000_000_000,
        default: 0,
        description: 'Number of the page, from 0',
      },
      prev_context: { description: '`context` of the page before' },
      arguments: { type: 'object', description: 'Arguments of the other tool that are known so far' },
    },
    required: ['tool', 'prop'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
} as const;
