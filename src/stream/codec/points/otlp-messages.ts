import protobuf from 'protobufjs';

/**
 * The fields of opentelemetry-proto v1 that are read, with their published numbers. JSON has the same names; there
 * 64-bit integers are text.
 */
const FIELDS = `
  syntax = "proto3";
  message ExportMetricsServiceRequest { repeated ResourceMetrics resource_metrics = 1; }
  message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeMetrics { repeated Metric metrics = 2; }
  message Metric {
    string name = 1;
    oneof data {
      Gauge gauge = 5;
      Sum sum = 7;
      Histogram histogram = 9;
      Exponential exponential_histogram = 10;
      Summary summary = 11;
    }
  }
  message Gauge { repeated NumberPoint data_points = 1; }
  message Sum { repeated NumberPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
  message Histogram { repeated HistogramPoint data_points = 1; int32 aggregation_temporality = 2; }
  message Exponential { repeated ExponentialPoint data_points = 1; int32 aggregation_temporality = 2; }
  message Summary { repeated SummaryPoint data_points = 1; }
  message NumberPoint {
    fixed64 time_unix_nano = 3;
    oneof value { double as_double = 4; sfixed64 as_int = 6; }
    repeated KeyValue attributes = 7;
    uint32 flags = 8;
  }
  message HistogramPoint {
    fixed64 time_unix_nano = 3; fixed64 count = 4; optional double sum = 5;
    repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7;
    repeated KeyValue attributes = 9; uint32 flags = 10;
  }
  message ExponentialPoint {
    repeated KeyValue attributes = 1; fixed64 time_unix_nano = 3; fixed64 count = 4; optional double sum = 5;
    uint32 flags = 10;
  }
  message SummaryPoint {
    fixed64 time_unix_nano = 3; fixed64 count = 4; double sum = 5; repeated ValueAtQuantile quantile_values = 6;
    repeated KeyValue attributes = 7; uint32 flags = 8;
  }
  message ValueAtQuantile { double quantile = 1; double value = 2; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue {
    oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; }
  }
`;

/** A 64-bit integer: as Protobuf has it, or as JSON has it. */
export type Int64 = number | string | { toNumber(): number };

export interface OtlpKeyValue {
  readonly key?: string;
  readonly value?: {
    readonly stringValue?: string;
    readonly boolValue?: boolean;
    readonly intValue?: Int64;
    readonly doubleValue?: number;
  } | null;
}

interface OtlpPoint {
  readonly timeUnixNano?: Int64;
  readonly attributes?: readonly OtlpKeyValue[];
  readonly flags?: number;
}

export interface OtlpNumberPoint extends OtlpPoint {
  readonly asDouble?: number | string;
  readonly asInt?: Int64;
}

export interface OtlpHistogramPoint extends OtlpPoint {
  readonly count?: Int64;
  readonly sum?: number;
  readonly bucketCounts?: readonly Int64[];
  readonly explicitBounds?: readonly number[];
}

export interface OtlpSummaryPoint extends OtlpPoint {
  readonly count?: Int64;
  readonly sum?: number;
  readonly quantileValues?: readonly { readonly quantile?: number; readonly value?: number }[];
}

interface OtlpPoints<Point> {
  readonly dataPoints?: readonly Point[];
  readonly aggregationTemporality?: number | string;
  readonly isMonotonic?: boolean;
}

export interface OtlpMetric {
  readonly name?: string;
  readonly gauge?: OtlpPoints<OtlpNumberPoint>;
  readonly sum?: OtlpPoints<OtlpNumberPoint>;
  readonly histogram?: OtlpPoints<OtlpHistogramPoint>;
  readonly exponentialHistogram?: OtlpPoints<OtlpHistogramPoint>;
  readonly summary?: OtlpPoints<OtlpSummaryPoint>;
}

export interface OtlpRequest {
  readonly resourceMetrics?: readonly {
    readonly resource?: { readonly attributes?: readonly OtlpKeyValue[] } | null;
    readonly scopeMetrics?: readonly { readonly metrics?: readonly OtlpMetric[] }[];
  }[];
}

const { root } = protobuf.parse(FIELDS, { keepCase: false });
const request = root.lookupType('ExportMetricsServiceRequest');

/** Absent fields are left out, as in JSON. Throws on damaged bytes. */
export function readOtlpProtobuf(bytes: Uint8Array): OtlpRequest {
  return request.toObject(request.decode(bytes)) as OtlpRequest;
}
