import { render } from 'preact';
import type { ReportData } from '../../api/wire/schema/operations/backtest-schema.ts';
import { reportSource } from '../view/report-source.ts';
import { html } from './element/html.ts';
import { Shell } from './shell.ts';

const text = document.getElementById('report')?.textContent ?? '';
const data: ReportData = JSON.parse(text);
const place = document.getElementById('console') as HTMLElement;
render(html`<${Shell} source=${reportSource(data)} session=${null} onLeave=${null} title=${data.title} />`, place);
