import { render } from 'preact';
import { html } from './html.ts';
import { httpSource } from './http-source.ts';
import { SignedInConsole } from './signed-in-console.ts';

const place = document.getElementById('console') as HTMLElement;
render(html`<${SignedInConsole} source=${httpSource()} />`, place);
