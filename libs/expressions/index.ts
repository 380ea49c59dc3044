export { Expressions, type Evaluation, type YamlReading } from './expressions.js';
export {
  STEP_MS,
  type ExpressionScope,
  type ExpressionText,
  type Place,
  type PropType,
  type SyntaxFault,
  type TextForm,
  type ValuePath,
  type YamlFault,
} from './messages.js';
