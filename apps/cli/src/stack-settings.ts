/** Tells the supervisor process to run each service in a process of its own. */
export const splitVariable = 'HOLDFAST_STACK_SPLIT';
