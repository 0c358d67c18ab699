export { failureTable, isFailureCode } from './table.ts';
export type { FailureClass, FailureCode, FailureRule } from './table.ts';
export { Failure, toNotice } from './failure.ts';
