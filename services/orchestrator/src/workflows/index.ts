export { session } from './session.ts';
