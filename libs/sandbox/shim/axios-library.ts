/** The library axios, as a module of its own, so that only components that send requests with it contain it. */
export { default as library } from 'axios';
