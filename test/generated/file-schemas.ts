import { routesSchema } from '../../src/alerts/routes/routes-file.ts';
import { detectorsSchema } from '../../src/config/detectors-file.ts';

const FILES = {
  detectors: {
    setting: detectorsSchema,
    title: 'Detectors file of Tidewatch',
    description: 'Which series are scored, and how.',
  },
  routes: {
    setting: routesSchema,
    title: 'Routes file of Tidewatch',
    description: 'Which events go to which receivers, and when.',
  },
} as const;

/** The JSON Schema by which a file of settings is read. */
export function fileSchema(name: keyof typeof FILES): string {
  const { setting, title, description } = FILES[name];
  return JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', title, description, ...setting.schema });
}
