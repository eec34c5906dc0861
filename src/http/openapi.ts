/** What openapi.json says besides the endpoints. */
export const OPENAPI = {
  openapi: '3.1.0' as const,
  info: {
    title: 'Tidewatch',
    version: '2',
    description:
      'Anomaly detection and forecasting on request. Many series travel as one flat `y` with `sizes`. Fields that are not named here are ignored. Bodies are JSON of at most 200 MiB, as they are or compressed with gzip, deflate or zstd; every answer is JSON, and those other than success carry `detail`.',
  },
  components: { securitySchemes: { key: { type: 'http' as const, scheme: 'bearer' } } },
};
