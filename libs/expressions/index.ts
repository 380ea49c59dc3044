export { Expressions, type Evaluation, type SyntaxFault } from './expressions.js';
export { STEP_MS, type ExpressionScope, type PropType, type TextForm } from './messages.js';
