import type { ReportData } from '../../api/wire/schema/operations/backtest-schema.ts';

/** Address of the page of a report without its data. */
export const REPORT_FILE = '/console/report.html';

const PLACE = '<script type="application/json" id="report">';

/** JSON whose texts cannot end the element that contains them. */
export const embedded = (json: string) => json.replaceAll('<', '\\u003c');

export function withReport(page: string, data: ReportData): string {
  return page.replace(`${PLACE}null<`, () => `${PLACE}${embedded(JSON.stringify(data))}<`);
}
