/** The array types of PostgreSQL's built-in types, whose numbers never change. */

/** Type and array type, in the order of the type's number. */
const BUILT_IN: readonly (readonly [type: number, arrayType: number])[] = [
  [16, 1000], // bool
  [17, 1001], // bytea
  [18, 1002], // "char"
  [19, 1003], // name
  [20, 1016], // int8
  [21, 1005], // int2
  [23, 1007], // int4
  [24, 1008], // regproc
  [25, 1009], // text
  [26, 1028], // oid
  [28, 1011], // xid
  [114, 199], // json
  [700, 1021], // float4
  [701, 1022], // float8
  [869, 1041], // inet
  [1033, 1034], // aclitem
  [1042, 1014], // bpchar
  [1043, 1015], // varchar
  [1082, 1182], // date
  [1114, 1115], // timestamp
  [1184, 1185], // timestamptz
  [1186, 1187], // interval
  [1700, 1231], // numeric
  [2205, 2210], // regclass
  [2206, 2211], // regtype
  [2950, 2951], // uuid
  [3220, 3221], // pg_lsn
  [3802, 3807], // jsonb
  [5069, 271], // xid8
];

/**
 * Options of the driver. Without them, it asks the server for all array types on every new connection. `array_types` needs our
 * patch.
 */
export const ARRAY_TYPES = { fetch_types: false, array_types: BUILT_IN };
