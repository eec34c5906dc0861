import { render } from 'preact';
import { html } from './element/html.ts';
import { SignedInConsole } from './signed-in-console.ts';
import { httpSource } from './source/http-source.ts';

const place = document.getElementById('console') as HTMLElement;
render(html`<${SignedInConsole} source=${httpSource()} />`, place);
