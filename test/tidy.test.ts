/**
 * The rules of the project, as far as a test can hold them. Style that the formatter or the compiler holds is only
 * checked to be on.
 */
import './tidy/boundaries.ts';
import './tidy/budgets.ts';
import './tidy/chart-values.ts';
import './tidy/directions.ts';
import './tidy/pages/documents.ts';
import './tidy/exports.ts';
import './tidy/pages/figures.ts';
import './tidy/image.ts';
import './tidy/json-schemas.ts';
import './tidy/monitoring.ts';
import './tidy/packages.ts';
import './tidy/pages/settings-page.ts';
import './tidy/style.ts';
import './tidy/pages/upgrades-page.ts';
import './tidy/pages/words.ts';
