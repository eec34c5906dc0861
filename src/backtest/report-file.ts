import { writeFile } from 'node:fs/promises';
import { reportPage } from '../console/report-page.ts';
import { ServiceError } from '../service-error.ts';
import type { ReportData } from '../sidecar/wire/schema/backtest-schema.ts';

/** Writes the page of a backtest. Throws a ServiceError `configuration` when the file cannot be written. */
export async function writeReportFile(path: string, data: ReportData): Promise<void> {
  await writeFile(path, reportPage(data)).catch((error: Error) => {
    throw new ServiceError('configuration', `Cannot write ${path}: ${error.message}`, { cause: error });
  });
}
